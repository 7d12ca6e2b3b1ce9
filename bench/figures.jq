# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# What all comparisons do with their samples, one sample a line: medians, ratios, verdicts.

def median:
	map(select(. != null)) | sort | length as $n |
	if $n == 0 then null
	elif $n % 2 == 1 then .[($n - 1) / 2]
	else (.[$n / 2 - 1] + .[$n / 2]) / 2
	end;

# Of a list of objects with the same numeric members: one object with their medians.
def medians: . as $list | (map(keys) | add | unique) |
	map({ (.): (. as $key | $list | map(.[$key]) | median) }) | add;

# Samples to rows: one for each link and program, with medians, and with every value for who wants to look closer.
def rows: group_by([.link, .program]) |
	map({ link: .[0].link, program: .[0].program, rounds: length,
	      median: (map(.values) | medians), samples: map(.values) });

def ratio($a; $b): if $a == null or $b == null or $b == 0 then null else $a / $b end;

# For tables: a fixed number of decimals, and "-" for what was not measured.
def fixed($decimals):
	if . == null then "-"
	else pow(10; $decimals) as $unit | (. * $unit | round) as $all |
		(if $all < 0 then "-" else "" end) + (($all | fabs) / $unit | floor | tostring) +
		if $decimals == 0 then ""
		else "." + (("0" * $decimals + (($all | fabs) % $unit | tostring)) | .[-$decimals:])
		end
	end;

# verdict([["what", ratio], ...]; limit): which of the ratios are above the limit, or not known.
def verdict($ratios; $limit):
	($ratios | map(select(.[1] == null) | .[0])) as $unknown |
	($ratios | map(select(.[1] != null and .[1] > $limit) | .[0])) as $missed |
	[ if ($missed | length) > 0 then "missed: " + ($missed | join(", ")) else empty end,
	  if ($unknown | length) > 0 then "not measured: " + ($unknown | join(", ")) else empty end ] |
	if length == 0 then "reached" else join("; ") end;
