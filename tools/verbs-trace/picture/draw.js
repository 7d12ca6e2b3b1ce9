/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Draws what is in view. What falls into a pixel that has its colour already is not drawn again, so that the
 * number of strokes depends on the width and not on the number of calls. */
"use strict";

/* How dark a QP is that is on its way to where it can send. */
const STATES = { RESET: 0.3, INIT: 0.5, RTR: 0.75, RTS: 1, SQD: 0.75 };
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/* "12.5 ms" */
function inWords(nanoseconds) {
	const [size, unit] = UNITS.find(([least]) => Math.abs(nanoseconds) >= least) || UNITS[3];
	const value = nanoseconds / size;
	return `${Number(value.toFixed(value < 10 ? 2 : 1))} ${unit}`;
}

class Drawing {
	constructor(canvas, view) {
		this.canvas = canvas;
		this.view = view;
		this.pen = canvas.getContext("2d");
		this.strokes = 0;
	}

	colours() {
		const style = getComputedStyle(document.documentElement);
		this.colour = {};
		for (const name of ["back", "text", "dim", "line", "lane", "call", "nested", "sleep", "empty", "send",
			"receive", "message", "unknown", "error", "flush", "life"])
			this.colour[name] = style.getPropertyValue(`--${name}`).trim();
	}

	resize() {
		const width = this.canvas.parentElement.clientWidth, view = this.view;
		const height = Math.min(view.full, Math.max(300, Math.round(window.innerHeight * 0.72)));
		const scale = window.devicePixelRatio || 1;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(height * scale);
		this.canvas.style.height = `${height}px`;
		this.pen.setTransform(scale, 0, 0, scale, 0, 0);
		view.width = width;
		view.height = height;
		view.move(0, 0);
	}

	draw() {
		const { view, pen } = this;
		this.strokes = 0;
		pen.fillStyle = this.colour.back;
		pen.fillRect(0, 0, view.width, view.height);
		const seen = view.rows.filter((r) => r.y + r.height > view.scroll && r.y < view.scroll + view.height);
		pen.save();
		pen.beginPath();
		pen.rect(0, AXIS, view.width, view.height - AXIS);
		pen.clip();
		pen.translate(0, -view.scroll);
		pen.save();
		pen.beginPath();
		pen.rect(GUTTER, view.scroll, view.width - GUTTER, view.height);
		pen.clip();
		for (const row of seen) {
			if (row.kind === "lane")
				this.lane(row);
			else if (row.kind === "object")
				this.life(row);
		}
		this.messages();
		pen.restore();
		for (const row of seen)
			this.label(row);
		pen.restore();
		this.axis();
	}

	label(row) {
		const { pen } = this;
		pen.textBaseline = "middle";
		pen.fillStyle = row.kind === "head" ? this.colour.text : this.colour.dim;
		pen.font = row.kind === "head" ? "bold 13px sans-serif" : "12px monospace";
		const text = row.kind === "lane" ? row.lane.name : row.kind === "object" ? row.object.name : row.text;
		const middle = row.kind === "lane" ? row.y + CALL / 2 : row.y + row.height / 2;
		pen.fillText(text, row.kind === "head" ? 6 : 18, middle, row.kind === "head" ? this.view.width : GUTTER - 24);
	}

	/* A time that is round, for a line about every 110 pixels. */
	axis() {
		const { pen, view } = this;
		const least = 110 * view.perPixel(), power = 10 ** Math.floor(Math.log10(least));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
		pen.font = "11px sans-serif";
		pen.textBaseline = "middle";
		for (let time = Math.ceil(view.timeAt(GUTTER) / step) * step; time <= view.end; time += step) {
			const x = Math.round(view.x(time)) + 0.5;
			pen.fillStyle = this.colour.line;
			pen.fillRect(x, AXIS - 6, 1, 6);
			pen.fillStyle = this.colour.dim;
			pen.fillText(inWords(Math.round(time)), x + 3, AXIS / 2);
		}
		pen.fillStyle = this.colour.line;
		pen.fillRect(0, AXIS - 1, view.width, 1);
	}

	/* Bars of one height, in the order of their colours: what matters more comes later. */
	bars(series, y, height, colourOf, least = 1) {
		const { view, pen } = this, byColour = new Map();
		view.each(series, (i) => {
			const colour = colourOf(series.f[i]);
			const left = Math.max(view.x(series.t[i]), GUTTER - 2);
			const right = Math.min(Math.max(view.x(series.t[i] + series.d[i]), left + least), view.width + 2);
			let spans = byColour.get(colour);
			if (!spans)
				byColour.set(colour, (spans = []));
			const last = spans[spans.length - 1];
			if (last && left < last[1] + 0.5)
				last[1] = Math.max(last[1], right);
			else
				spans.push([left, right]);
		});
		for (const [colour, spans] of [...byColour].sort((a, b) => this.rank(a[0]) - this.rank(b[0]))) {
			pen.fillStyle = colour;
			for (const [left, right] of spans)
				pen.fillRect(left, y, right - left, height);
			this.strokes += spans.length;
		}
	}

	rank(colour) {
		return colour === this.colour.error ? 2 : colour === this.colour.sleep ? 0 : 1;
	}

	lane(row) {
		const { pen, view, colour } = this, { lane } = row;
		pen.fillStyle = colour.lane;
		pen.fillRect(GUTTER, row.y, view.width, row.height - GAP / 2);
		const least = lane.packets ? 3 : 1; /* pixels: what takes no time is to be seen */
		this.bars(lane.empty, row.y + 3, CALL - 6, () => colour.empty, least);
		lane.levels.forEach((series, depth) => {
			this.bars(series, row.y + 4 * depth, CALL - 4 * depth, (f) =>
				f & (ERROR | OPEN) ? colour.error : f & FLUSH ? colour.flush : f & SLEEP ? colour.sleep
					: depth ? colour.nested : colour.call, least);
		});
		this.names(lane, row.y);
		lane.requests.forEach((series, number) => {
			this.bars(series, row.y + CALL + 1 + REQUEST * number, REQUEST - 2, (f) =>
				f & ERROR ? colour.error : f & FLUSH ? colour.flush : f & RECEIVE ? colour.receive : colour.send);
		});
	}

	/* The verb in its bar, where there is room for it. A packet takes no time that is known: its name stands behind it,
	 * where there is room before the next. */
	names(lane, y) {
		const { pen, view, colour } = this, series = lane.levels[0];
		pen.font = "11px sans-serif";
		pen.textBaseline = "middle";
		view.each(series, (i) => {
			const end = lane.packets ? series.t[i + 1] ?? Infinity : series.t[i] + series.d[i];
			const begin = view.x(series.t[i]), left = lane.packets ? begin : Math.max(begin, GUTTER);
			const right = Math.min(view.x(end), view.width);
			if (left < GUTTER || right - left < 60)
				return;
			const name = view.trace.words[series.w[i]].split(lane.packets ? /[:\n]/ : "(", 1)[0];
			pen.fillStyle = lane.packets ? colour.text : series.f[i] & SLEEP ? colour.dim : colour.back;
			if (right - left > pen.measureText(name).width + 8)
				pen.fillText(name, left + 4, y + CALL / 2);
		});
	}

	life(row) {
		const { pen, view, colour } = this, { t, u, x, states, errors } = row.object;
		const left = Math.max(view.x(t), GUTTER - 2), right = Math.min(view.x(u), view.width + 2);
		pen.fillStyle = colour.life;
		pen.fillRect(left, row.y + LIFE / 2 - 1, Math.max(1, right - left), 3);
		pen.fillRect(view.x(t), row.y + 2, 2, LIFE - 4);
		if (x >= 0)
			pen.fillRect(view.x(u), row.y + 2, 2, LIFE - 4);
		this.strokes += 3;
		pen.font = "11px monospace";
		pen.textBaseline = "middle";
		states.forEach(([when, state], i) => {
			const from = Math.max(view.x(when), GUTTER), to = view.x(i + 1 < states.length ? states[i + 1][0] : u);
			if (to < GUTTER || from > view.width)
				return;
			pen.fillStyle = errors.length && state === "ERR" ? colour.error : STATES[state] ? colour.send : colour.flush;
			pen.globalAlpha = STATES[state] || 1;
			pen.fillRect(from, row.y + 2, Math.max(1, to - from), LIFE - 4);
			pen.globalAlpha = 1;
			pen.fillStyle = colour.back;
			if (to - from > 7 * state.length + 6)
				pen.fillText(state, from + 3, row.y + LIFE / 2 + 1);
			this.strokes++;
		});
		pen.fillStyle = colour.error;
		let last = -1;
		for (const when of errors) {
			const at = Math.round(view.x(when));
			if (at !== last)
				pen.fillRect(at, row.y, 2, LIFE);
			last = at;
		}
	}

	/* Many at one place look like one. */
	messages() {
		const { pen, view, colour } = this, lines = view.trace.messages, drawn = new Set();
		pen.lineWidth = 1;
		view.each(lines, (i) => {
			const place = `${Math.round(view.x(lines.t[i]))},${Math.round(view.x(lines.u[i]))},${lines.from[i]},${lines.to[i]}`;
			if (drawn.has(place))
				return;
			drawn.add(place);
			const unknown = lines.f[i] & UNKNOWN, parts = view.line(i);
			pen.strokeStyle = pen.fillStyle = lines.f[i] & ERROR ? colour.error : unknown ? colour.unknown : colour.message;
			pen.setLineDash(unknown ? [4, 3] : []);
			pen.beginPath();
			for (const [x0, y0, x1, y1] of parts) {
				pen.moveTo(x0, y0);
				pen.lineTo(x1, y1);
			}
			pen.stroke();
			if (!unknown)
				this.head(...parts[0]);
			this.strokes++;
		});
		pen.setLineDash([]);
	}

	head(x0, y0, x1, y1) {
		const { pen } = this, angle = Math.atan2(y1 - y0, x1 - x0);
		pen.beginPath();
		pen.moveTo(x1, y1);
		pen.lineTo(x1 - 8 * Math.cos(angle - 0.35), y1 - 8 * Math.sin(angle - 0.35));
		pen.lineTo(x1 - 8 * Math.cos(angle + 0.35), y1 - 8 * Math.sin(angle + 0.35));
		pen.fill();
	}
}
