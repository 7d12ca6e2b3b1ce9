/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
#include <our_control.h>

int main()
{
	our_stop *stop = nullptr;
	int ret = our_create_stop(&stop);

	our_destroy_stop(stop);
	return ret;
}
