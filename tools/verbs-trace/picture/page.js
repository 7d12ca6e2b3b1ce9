/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Mouse, keys, buttons, what is shown of the thing under the mouse, and the table. `picture` is for tests. */
"use strict";

const trace = JSON.parse(document.getElementById("trace").textContent);
const canvas = document.getElementById("canvas"), tip = document.getElementById("tip");
const view = new View(trace), drawing = new Drawing(canvas, view);
let asked = false;

function redraw() {
	if (asked)
		return;
	asked = true;
	requestAnimationFrame(() => {
		asked = false;
		drawing.draw();
		document.getElementById("range").textContent =
			`${inWords(Math.round(view.end - view.begin))} from ${inWords(Math.round(view.begin))}`;
	});
}

/* A text of one colour, beneath each other. */
function say(lines) {
	tip.replaceChildren(...lines.map(([text, bad]) => {
		const line = document.createElement("div");
		line.textContent = text;
		line.className = bad ? "bad" : "";
		return line;
	}));
}

function linesOf(found) {
	const { words, messages } = trace;
	if (found.object) {
		const { name, t, u, w, x, states } = found.object;
		const ended = x >= 0 ? words[x] : "not destroyed in the trace";
		return [[`${name}, for ${inWords(u - t)}`], [`${inWords(t)}: ${words[w]}`], [`${inWords(u)}: ${ended}`, x < 0],
			...states.map(([when, state]) => [`${inWords(when)}: ${state}`, state === "ERR"])];
	}
	if ("message" in found) {
		const i = found.message;
		const what = messages.f[i] & UNKNOWN ? "from post to completion" : "from post to the poll that found it";
		return [[`${inWords(messages.t[i])}: ${words[messages.w[i]]}`], [`${inWords(messages.u[i] - messages.t[i])} ${what}`]];
	}
	const { series, index } = found, flags = series.f[index];
	const [first, ...more] = words[series.w[index]].split("\n");
	if (found.packet)
		return [[`${inWords(series.t[index])}: ${first}`, flags & ERROR], ...more.map((line) => [line])];
	return [[`${inWords(series.t[index])}: ${words[series.w[index]]} <${inWords(series.d[index])}>`, flags & ERROR]];
}

function point(x, y, pageX, pageY) {
	const found = view.under(x, y);
	tip.hidden = !found;
	if (!found)
		return;
	say(linesOf(found));
	const box = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(4, Math.min(pageX + 14, window.innerWidth - box.width - 8))}px`;
	tip.style.top = `${pageY + 18 + box.height > window.innerHeight ? Math.max(4, pageY - box.height - 10) : pageY + 18}px`;
}

canvas.addEventListener("wheel", (event) => {
	event.preventDefault();
	if (event.shiftKey)
		view.move(-(event.deltaX || event.deltaY), 0);
	else
		view.zoom(1.0015 ** event.deltaY, Math.max(event.offsetX, GUTTER));
	redraw();
}, { passive: false });

let held = null;
canvas.addEventListener("pointerdown", (event) => {
	held = { x: event.clientX, y: event.clientY };
	canvas.setPointerCapture(event.pointerId);
	canvas.classList.add("dragged");
	tip.hidden = true;
});
canvas.addEventListener("pointermove", (event) => {
	if (!held) {
		point(event.offsetX, event.offsetY, event.clientX, event.clientY);
		return;
	}
	view.move(event.clientX - held.x, event.clientY - held.y);
	held = { x: event.clientX, y: event.clientY };
	redraw();
});
for (const name of ["pointerup", "pointercancel"]) {
	canvas.addEventListener(name, () => {
		held = null;
		canvas.classList.remove("dragged");
	});
}
canvas.addEventListener("pointerleave", () => (tip.hidden = true));

/* The first error behind the middle of the view, or else the first. */
function nextError() {
	const length = Math.min(view.end - view.begin, trace.end / 20), middle = (view.begin + view.end) / 2;
	if (!view.errors.length)
		return;
	const at = view.errors[firstFrom(view.errors, middle + length / 1000)] ?? view.errors[0];
	view.show(at - length / 2, at + length / 2);
	redraw();
}

function fit() {
	view.fit();
	redraw();
}

function step(factor) {
	view.zoom(factor, (GUTTER + view.width) / 2);
	redraw();
}

function aside(x, y) {
	view.move(x, y);
	redraw();
}

const KEYS = {
	0: fit, "+": () => step(0.7), "-": () => step(1 / 0.7), e: nextError,
	ArrowLeft: () => aside(80, 0), ArrowRight: () => aside(-80, 0),
	ArrowUp: () => aside(0, 40), ArrowDown: () => aside(0, -40),
};
canvas.addEventListener("keydown", (event) => {
	if (KEYS[event.key]) {
		event.preventDefault();
		KEYS[event.key]();
	}
});
const BUTTONS = { fit, in: () => step(0.7), out: () => step(1 / 0.7), error: nextError };
for (const [name, act] of Object.entries(BUTTONS))
	document.getElementById(name).addEventListener("click", act);

function paint(dark) {
	document.documentElement.classList.toggle("dark", dark);
	drawing.colours();
	redraw();
}
const wanted = window.matchMedia("(prefers-color-scheme: dark)");
wanted.addEventListener("change", () => paint(wanted.matches));
document.getElementById("theme").addEventListener("click", () =>
	paint(!document.documentElement.classList.contains("dark")));

function cell(row, text, bad) {
	const made = row.insertCell();
	made.textContent = text;
	made.className = bad ? "bad" : "";
}

function fillTable() {
	const body = document.getElementById("table");
	for (const entry of trace.table) {
		const row = body.insertRow();
		cell(row, entry.what);
		cell(row, trace.processes[entry.process].label);
		cell(row, entry.name);
		cell(row, entry.n);
		cell(row, entry.errors || "", true);
		for (const name of ["total", "median", "max"])
			cell(row, inWords(entry[name]));
		row.addEventListener("click", () => {
			const margin = Math.max(entry.max, SHORTEST);
			view.show(entry.at - margin, entry.at + entry.max + margin);
			view.scroll = Math.max(0, Math.min(view.laneRows[entry.lane].y - AXIS - HEAD, view.full - view.height));
			redraw();
			canvas.scrollIntoView({ block: "nearest" });
		});
	}
}

function fillHead() {
	document.title = `verbs-trace: ${trace.title}`;
	document.getElementById("title").textContent = trace.title;
	document.getElementById("error").disabled = !view.errors.length;
	const list = document.getElementById("notes");
	for (const [texts, name] of [[trace.accusations, "accusation"], [trace.notes, ""]]) {
		for (const text of texts) {
			const item = document.createElement("li");
			item.textContent = text;
			item.className = name;
			list.append(item);
		}
	}
}

fillHead();
fillTable();
window.addEventListener("resize", () => {
	drawing.resize();
	redraw();
});
drawing.resize();
paint(wanted.matches);
window.picture = { trace, view, drawing };
