# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Boxes, labels and arrows of a figure, and the SVG that shows them, light or dark as the reader prefers.

Place: below tools/figures/drawings.py. Contract: lengths are in pixels, from the top left corner. A text that does not
fit into its box, or anything outside of the figure, is an error.
"""

import html
from dataclasses import dataclass, field

Point = tuple[float, float]
LINE = 16  # from one line of text to the next
LETTER = 6.6  # width of a letter, on the average, in a wide font
COLOURS = {  # light, dark
    "program": ("#dbeafe", "#1e3a5f"),
    "kernel": ("#e5e7eb", "#3a3f47"),
    "device": ("#ffedd5", "#5c3a12"),
    "memory": ("#dcfce7", "#17472c"),
    "event": ("#ede9fe", "#40306e"),
    "plain": ("none", "none"),
}


def _style() -> str:
    """The colours of the paper, of lines and of boxes."""
    light = "".join(f".{kind}{{fill:{colours[0]}}}" for kind, colours in COLOURS.items())
    dark = "".join(f".{kind}{{fill:{colours[1]}}}" for kind, colours in COLOURS.items())
    return (
        "svg{font:12.5px system-ui,sans-serif;color:#1d2430}text{fill:currentColor;stroke:none}.paper{fill:#fff}"
        "rect,path{stroke:currentColor}rect.paper{stroke:none}path{fill:none;stroke-width:1.4}.dashed{stroke-dasharray:5 4}"
        ".title{font-weight:600}.faint{opacity:.65}.tip{fill:currentColor}"
        f"{light}@media(prefers-color-scheme:dark){{svg{{color:#e6e6e6}}.paper{{fill:#16181c}}{dark}}}"
    )


@dataclass(frozen=True)
class Box:
    """A rectangle, and the points at which arrows meet it."""

    x: float
    y: float
    width: float
    height: float

    def left(self, part: float = 0.5) -> Point:
        return self.x, self.y + part * self.height

    def right(self, part: float = 0.5) -> Point:
        return self.x + self.width, self.y + part * self.height

    def top(self, part: float = 0.5) -> Point:
        return self.x + part * self.width, self.y

    def bottom(self, part: float = 0.5) -> Point:
        return self.x + part * self.width, self.y + self.height


@dataclass
class Drawing:
    """A figure under construction."""

    title: str
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def _inside(self, what: str, left: float, right: float, y: float) -> None:
        """Fails if something would be cut off."""
        if left < 0 or right > self.width or not 0 <= y <= self.height:
            raise ValueError(f"{self.title}: {what} is outside of the figure")

    def text(self, x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> None:
        """Lines of text, centred vertically on y."""
        lines = words.split("\n")
        for number, line in enumerate(lines):
            width = len(line) * LETTER
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            base = y + (number - (len(lines) - 1) / 2) * LINE + 4
            self._inside(f"'{line}'", left, left + width, base)
            looks = f' class="{kind}"' if kind else ""
            self.parts.append(f'<text x="{x:g}" y="{base:g}" text-anchor="{anchor}"{looks}>{html.escape(line)}</text>')

    def box(self, x: float, y: float, width: float, height: float, words: str, kind: str = "plain") -> Box:
        """A box with text in its middle; an empty text leaves room for what is drawn into it."""
        lines = words.split("\n")
        if max(map(len, lines)) * LETTER > width - 2 or len(lines) * LINE > height:
            raise ValueError(f"{self.title}: '{words}' does not fit into its box")
        self._inside(f"the box '{words}'", x, x + width, y + height)
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" class="{kind}"/>')
        if words:
            self.text(x + width / 2, y + height / 2, words)
        return Box(x, y, width, height)

    def area(self, x: float, y: float, width: float, height: float, title: str, kind: str = "plain dashed") -> Box:
        """A box around other boxes, with a title at its top."""
        box = self.box(x, y, width, height, "", kind)
        self.text(x + width / 2, y + 13, title, kind="title")
        return box

    def arrow(self, *points: Point, words: str = "", dashed: bool = False, side: str = "above", tip: bool = True) -> None:
        """A line through the points, with words beside the middle of its longest part."""
        path = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
        looks = ' class="dashed"' if dashed else ""
        end = ' marker-end="url(#tip)"' if tip else ""
        self.parts.append(f'<path d="{path}"{looks}{end}/>')
        if words:
            pairs = list(zip(points, points[1:]))
            (x1, y1), (x2, y2) = max(pairs, key=lambda pair: abs(pair[0][0] - pair[1][0]) + abs(pair[0][1] - pair[1][1]))
            x, y, rows = (x1 + x2) / 2, (y1 + y2) / 2, words.count("\n") + 1
            if side == "above":
                self.text(x, y - 2 - LINE * rows / 2, words)
            elif side == "below":
                self.text(x, y + 2 + LINE * rows / 2, words)
            else:
                self.text(x + (7 if side == "right" else -7), y, words, "start" if side == "right" else "end")

    def svg(self) -> str:
        """The whole file."""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" role="img"'
        tip = '<marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
        start = [
            f'{head} aria-label="{html.escape(self.title)}"><style>{_style()}</style>',
            f'<defs>{tip}<path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>',
            '<rect class="paper" width="100%" height="100%" rx="8"/>',
        ]
        return "\n".join([*start, *self.parts, "</svg>"]) + "\n"
