/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which part of the run is seen, where each thing is drawn, and what is under the mouse. Draws nothing. */
"use strict";

const ERROR = 1, SLEEP = 2, EMPTY = 4, OPEN = 8, FLUSH = 16, RECEIVE = 32, UNKNOWN = 64;
const GUTTER = 190, AXIS = 24, CALL = 18, REQUEST = 6, GAP = 8, HEAD = 22, LIFE = 15;
const SHORTEST = 20; /* nanoseconds that the whole width may stand for */

/* A column of bars, of which each begins no earlier than the one before it. `ends` has the latest end so
 * far, which never falls: by that the first bar that reaches into the view is found. */
function prepare(series) {
	series.ends = new Float64Array(series.t.length);
	let latest = -Infinity;
	for (let i = 0; i < series.t.length; i++) {
		latest = Math.max(latest, series.u ? series.u[i] : series.t[i] + series.d[i]);
		series.ends[i] = latest;
	}
	return series;
}

/* The first index whose value is at least `wanted`, in a column that never falls. */
function firstFrom(column, wanted) {
	let low = 0, high = column.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (column[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

class View {
	constructor(trace) {
		this.trace = trace;
		this.width = 1000;
		this.height = 400;
		this.scroll = 0;
		this.begin = 0;
		this.end = 1;
		for (const lane of trace.lanes)
			[...lane.levels, lane.empty, ...lane.requests].forEach(prepare);
		prepare(trace.messages);
		this.place();
		this.errors = this.findErrors();
		this.fit();
	}

	/* From top to bottom: for each process a head and its lanes; then for each a head and its objects. */
	place() {
		const { lanes, processes, objects } = this.trace;
		let y = AXIS;
		this.rows = [];
		const add = (row, height) => {
			this.rows.push({ ...row, y, height });
			y += height;
		};
		processes.forEach((process, number) => {
			add({ kind: "head", text: `${process.label}  ${process.pid}` }, HEAD);
			lanes.forEach((lane, index) => {
				if (lane.process === number)
					add({ kind: "lane", lane, index }, CALL + REQUEST * lane.requests.length + GAP);
			});
		});
		processes.forEach((process, number) => {
			const own = objects.filter((object) => object.process === number);
			if (own.length)
				add({ kind: "head", text: `objects of ${process.label}` }, HEAD);
			for (const object of own)
				add({ kind: "object", object }, LIFE);
		});
		this.full = y + GAP;
		this.laneRows = [];
		for (const row of this.rows) {
			if (row.kind === "lane")
				this.laneRows[row.index] = row;
		}
	}

	findErrors() {
		const found = new Set();
		const take = (series) => series.f.forEach((flags, i) => flags & ERROR && found.add(series.t[i]));
		for (const lane of this.trace.lanes)
			[...lane.levels, ...lane.requests].forEach(take);
		for (const object of this.trace.objects)
			object.errors.forEach((when) => found.add(when));
		return [...found].sort((a, b) => a - b);
	}

	fit() {
		const margin = Math.max(this.trace.end * 0.01, SHORTEST);
		this.show(-margin, this.trace.end + margin);
	}

	/* Never shorter than can be told apart, nor much longer than the run. */
	show(begin, end) {
		const middle = (begin + end) / 2, most = this.trace.end * 1.5 + 10 * SHORTEST;
		const length = Math.min(Math.max(end - begin, SHORTEST), most);
		const at = Math.min(Math.max(middle, 0), this.trace.end);
		this.begin = at - length / 2;
		this.end = at + length / 2;
	}

	zoom(factor, x) {
		const at = this.timeAt(x);
		this.show(at - (at - this.begin) * factor, at + (this.end - at) * factor);
	}

	move(pixels, down) {
		const by = pixels * this.perPixel();
		this.show(this.begin - by, this.end - by);
		this.scroll = Math.min(Math.max(this.scroll - down, 0), Math.max(0, this.full - this.height));
	}

	perPixel() {
		return (this.end - this.begin) / Math.max(1, this.width - GUTTER);
	}

	x(time) {
		return GUTTER + (time - this.begin) / this.perPixel();
	}

	timeAt(x) {
		return this.begin + (x - GUTTER) * this.perPixel();
	}

	/* Calls see(index) for the bars that reach into the view. */
	each(series, see) {
		for (let i = firstFrom(series.ends, this.begin); i < series.t.length && series.t[i] <= this.end; i++)
			see(i);
	}

	/* The shortest bar at this time, or near it by some pixels: short ones lie within long ones. */
	bar(series, x) {
		const near = 3 * this.perPixel(), time = this.timeAt(x);
		let best = -1;
		const last = firstFrom(series.t, time + near);
		for (let i = firstFrom(series.ends, time - near); i < last; i++) {
			if (series.t[i] + series.d[i] >= time - near && (best < 0 || series.d[i] <= series.d[best]))
				best = i;
		}
		return best < 0 ? null : { series, index: best };
	}

	/* What is under a point: { series, index }, { object }, { message } or null. */
	under(x, y) {
		const at = y < AXIS ? -1 : y + this.scroll;
		const row = this.rows.find((r) => at >= r.y && at < r.y + r.height);
		if (x < GUTTER || at < 0)
			return null;
		if (row && row.kind === "object") {
			const { t, u } = row.object, time = this.timeAt(x), near = 3 * this.perPixel();
			return time >= t - near && time <= u + near ? { object: row.object } : null;
		}
		if (row && row.kind === "lane") {
			const below = at - row.y - CALL;
			const requests = row.lane.requests[Math.floor(below / REQUEST)];
			const tried = below < 0 ? [...row.lane.levels].reverse().concat(row.lane.empty) : requests ? [requests] : [];
			for (const series of tried) {
				const found = this.bar(series, x);
				if (found)
					return row.lane.packets ? { ...found, packet: true } : found;
			}
		}
		return this.message(x, at);
	}

	/* The line that passes nearest, by at most 4 pixels. */
	message(x, y) {
		const lines = this.trace.messages;
		let best = null, least = 4;
		this.each(lines, (i) => {
			for (const [x0, y0, x1, y1] of this.line(i)) {
				const share = (y - y0) / (y1 - y0 || 1);
				const distance = Math.abs(x0 + share * (x1 - x0) - x);
				if (share >= 0 && share <= 1 && distance < least) {
					least = distance;
					best = { message: i };
				}
			}
		});
		return best;
	}

	/* From lane to lane; what has no known time at the peer goes there and back. */
	line(i) {
		const { t, u, from, to, f } = this.trace.messages;
		const a = this.laneRows[from[i]], b = this.laneRows[to[i]], down = b.y > a.y;
		const y0 = down ? a.y + CALL : a.y, y1 = down ? b.y : b.y + CALL;
		const x0 = this.x(t[i]), x1 = this.x(u[i]), middle = (x0 + x1) / 2;
		return f[i] & UNKNOWN ? [[x0, y0, middle, y1], [middle, y1, x1, y0]] : [[x0, y0, x1, y1]];
	}
}
