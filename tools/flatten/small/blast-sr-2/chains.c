/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * In a flattened program a message is one piece.
 */
#include "blast-sr-2/blast.h"

int our_setup_pieces(struct our_control *control)
{
	return 0;
}

void our_unsetup_pieces(struct our_control *control)
{
}
