"use strict";
// A call's timeline: events, caller, replies, agent, line and tools on one time axis. A canvas that covers what
// is visible is redrawn on scroll and zoom; the cursor is an element of its own, so playing redraws nothing.
class Timeline {
  static LANES = { ruler: 20, events: 24, caller: 70, replies: 48, agent: 70, line: 46, tools: 26 };
  static GUTTER = 78;
  static EDGE = 14;

  constructor(host, call, limits, severities, { seek, hover }) {
    Object.assign(this, { host, call, limits, severities, zoom: 1, seek, hover });
    this.view = el("div", { class: "view" });
    this.spacer = el("div", { class: "spacer" });
    this.canvas = el("canvas", { "aria-label": "timeline of the call; click to listen from there", role: "img" });
    this.cursor = el("div", { class: "cursor" });
    this.spacer.append(this.canvas);
    this.view.append(this.spacer);
    host.replaceChildren(this.view, this.cursor);
    // A call may leave lanes out: a recording from elsewhere has no line of its own.
    this.lanes = Object.fromEntries(Object.entries(Timeline.LANES).map(([name, height]) => [name, (call.without || []).includes(name) ? 0 : height]));
    this.height = Object.values(this.lanes).reduce((sum, lane) => sum + lane, 0);
    this.waves = {};
    for (const [name, wave] of Object.entries(call.tracks || {})) {
      this.waves[name] = { peak: Timeline.bytes(wave.peak), rms: Timeline.bytes(wave.rms) };
    }
    const loudest = Math.max(1, ...["caller", "agent"].flatMap((name) => (this.waves[name] ? Array.from(this.waves[name].peak) : [])));
    this.gain = 1 / loudest;
    this.time = 0;
    this.view.addEventListener("scroll", () => this.draw());
    this.view.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoomTo(this.zoom * Math.exp(-event.deltaY / 240), this.timeAt(event.offsetX));
    }, { passive: false });
    this.canvas.addEventListener("click", (event) => this.seek(this.timeAt(event.offsetX)));
    this.canvas.addEventListener("mousemove", (event) => this.hover(this.timeAt(event.offsetX), event.offsetY));
    this.canvas.addEventListener("mouseleave", () => this.hover(null, 0));
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
    this.onTheme = () => this.draw();
    document.addEventListener("themechange", this.onTheme);
  }

  destroy() { this.observer.disconnect(); document.removeEventListener("themechange", this.onTheme); }

  static bytes(text) { return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)); }

  get scale() { return ((this.width - Timeline.GUTTER - Timeline.EDGE) * this.zoom) / Math.max(this.call.duration, 0.1); }
  x(time) { return Timeline.GUTTER + time * this.scale - this.view.scrollLeft; }
  timeAt(x) { return Math.min(this.call.duration, Math.max(0, (x - Timeline.GUTTER + this.view.scrollLeft) / this.scale)); }

  resize() {
    this.width = this.host.clientWidth;
    this.spacer.style.width = `${Timeline.GUTTER + Timeline.EDGE + this.scale * this.call.duration}px`;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.draw();
  }

  zoomTo(zoom, anchor = this.time) {
    const before = this.x(anchor);
    this.zoom = Math.min(24, Math.max(1, zoom));
    this.resize();
    this.view.scrollLeft += this.x(anchor) - before;
    this.draw();
  }

  moveTo(time, follow) {
    this.time = time;
    const x = this.x(time);
    if (follow && this.zoom > 1 && (x > this.width - 60 || x < Timeline.GUTTER)) this.view.scrollLeft += x - Timeline.GUTTER - 80;
    this.place();
  }

  place() {
    const x = this.x(this.time);
    this.cursor.style.left = `${x}px`;
    this.cursor.hidden = x < Timeline.GUTTER - 1;
  }

  colours() {
    const style = getComputedStyle(document.documentElement);
    return new Proxy({}, { get: (_, name) => style.getPropertyValue(`--${name}`).trim() });
  }

  draw() {
    if (!this.width) return;
    const ratio = devicePixelRatio || 1;
    const pen = this.canvas.getContext("2d");
    const ink = this.colours();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = `11px ${ink.sans}`;
    pen.textBaseline = "middle";
    const tops = {};
    let top = 0;
    for (const [lane, height] of Object.entries(this.lanes)) { tops[lane] = top; top += height; }
    this.tops = tops;
    pen.save();
    pen.beginPath();
    pen.rect(Timeline.GUTTER, 0, this.width - Timeline.GUTTER, this.height);
    pen.clip();
    this.drawRuler(pen, ink, tops);
    this.drawOverlaps(pen, ink, tops);
    this.drawTrack(pen, ink, tops.caller, this.lanes.caller, "caller", ink["wave"], ink["wave-core"]);
    this.drawTrack(pen, ink, tops.agent, this.lanes.agent, "agent", `color-mix(in srgb, ${ink.accent} 38%, ${ink.panel})`, ink.accent);
    this.drawTrack(pen, ink, tops.line, this.lanes.line, "line", ink["line-wave"], ink["line-core"]);
    this.drawReplies(pen, ink, tops);
    this.drawTools(pen, ink, tops);
    this.drawEvents(pen, ink, tops);
    pen.restore();
    this.drawLabels(pen, ink, tops);
    this.place();
  }

  drawRuler(pen, ink, tops) {
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60].find((value) => value * this.scale >= 56) || 120;
    pen.textAlign = "left";
    for (let time = Math.floor(this.timeAt(Timeline.GUTTER) / step) * step; time <= this.call.duration; time += step) {
      const x = Math.round(this.x(time)) + 0.5;
      pen.strokeStyle = ink.rule;
      pen.beginPath(); pen.moveTo(x, 12); pen.lineTo(x, this.height); pen.stroke();
      pen.fillStyle = ink.faint;
      pen.fillText(step < 1 ? `${time.toFixed(1)} s` : `${Math.round(time)} s`, x + 3, 9);
    }
    pen.strokeStyle = ink.rule;
    for (const lane of ["events", "caller", "replies", "agent", "line", "tools"]) {
      pen.beginPath(); pen.moveTo(0, tops[lane] + 0.5); pen.lineTo(this.width, tops[lane] + 0.5); pen.stroke();
    }
  }

  drawTrack(pen, ink, top, height, name, outer, core) {
    if (!height) return;
    const marks = this.call.segments[name];
    const strip = marks ? 7 : 0;
    const wave = this.waves[name];
    const middle = top + (height - strip) / 2;
    const half = (height - strip) / 2 - 4;
    if (wave && wave.peak.length) {
      const perPoint = this.call.duration / wave.peak.length;
      for (const [row, colour] of [["peak", outer], ["rms", core]]) {
        pen.fillStyle = colour;
        for (let x = Timeline.GUTTER; x < this.width; x += 1) {
          const from = Math.floor((x - Timeline.GUTTER + this.view.scrollLeft) / this.scale / perPoint);
          const to = Math.max(from + 1, Math.floor((x + 1 - Timeline.GUTTER + this.view.scrollLeft) / this.scale / perPoint));
          if (from >= wave.peak.length) break;
          let value = 0;
          for (let index = from; index < to && index < wave.peak.length; index += 1) value = Math.max(value, wave[row][index]);
          const size = Math.min(1, value * this.gain) ** 0.65 * half; // speech is peaky: quiet syllables stay in sight
          if (value) pen.fillRect(x, middle - Math.max(0.5, size), 1, Math.max(1, size * 2));
        }
      }
    } else {
      pen.fillStyle = ink.faint;
      pen.textAlign = "left";
      pen.fillText("no recording", Timeline.GUTTER + 8, middle);
    }
    if (!marks) return;
    pen.fillStyle = core;
    for (const [start, end] of marks) pen.fillRect(this.x(start), top + height - 7, Math.max(1, this.x(end) - this.x(start)), 4);
  }

  kind(latency) {
    if (latency <= -this.limits.talk_over_s) return "s3";
    if (latency > this.limits.slow_turn_s) return "s3";
    return latency > this.limits.slow_median_s ? "s2" : "soft";
  }

  drawOverlaps(pen, ink, tops) {
    const from = tops.caller, to = tops.line;
    for (const [a0, a1] of this.call.segments.caller) {
      for (const [b0, b1] of this.call.segments.agent) {
        const start = Math.max(a0, b0), end = Math.min(a1, b1);
        if (end <= start) continue;
        const x = this.x(start), wide = Math.max(1, this.x(end) - x);
        pen.fillStyle = ink["s3-soft"];
        pen.fillRect(x, from + 1, wide, to - from - 1);
      }
    }
  }

  drawReplies(pen, ink, tops) {
    const y = tops.replies + 27;
    pen.textAlign = "center";
    let free = -Infinity;
    for (const reply of this.call.replies) {
      const offset = this.x(reply.offset), onset = this.x(reply.onset);
      const { talk_over_s: early, slow_median_s: slow, slow_turn_s: late } = this.limits;
      const marks = [[-early, ink.s3], [slow, ink.s2], [late, ink.s3]];
      for (const [limit, colour] of marks) {
        const x = Math.round(this.x(reply.offset + limit)) + 0.5;
        pen.strokeStyle = colour;
        pen.globalAlpha = 0.75;
        pen.beginPath(); pen.moveTo(x, y - 5); pen.lineTo(x, y + 6); pen.stroke();
      }
      pen.globalAlpha = 0.28;
      pen.strokeStyle = ink.faint;
      pen.beginPath(); pen.moveTo(this.x(reply.offset - early), y + 0.5); pen.lineTo(this.x(reply.offset + late), y + 0.5); pen.stroke();
      pen.globalAlpha = 1;
      pen.setLineDash([2, 2]);
      pen.strokeStyle = ink.faint;
      pen.beginPath(); pen.moveTo(offset, tops.replies - 3); pen.lineTo(offset, y); pen.moveTo(onset, y); pen.lineTo(onset, tops.agent + 4); pen.stroke();
      pen.setLineDash([]);
      const colour = ink[this.kind(reply.latency)];
      pen.fillStyle = colour;
      pen.fillRect(Math.min(offset, onset), y - 2.5, Math.max(2, Math.abs(onset - offset)), 6);
      const text = fixed(reply.latency);
      const half = pen.measureText(text).width / 2;
      const centre = (offset + onset) / 2;
      if (centre - half > free) {
        pen.fillStyle = colour === ink.soft ? ink.soft : ink.ink;
        pen.fillText(text, centre, tops.replies + 12);
        free = centre + half + 4;
      }
    }
  }

  drawTools(pen, ink, tops) {
    if (!this.lanes.tools) return;
    const y = tops.tools + this.lanes.tools / 2;
    pen.textAlign = "left";
    let free = -Infinity;
    for (const tool of this.call.tools) {
      const x = this.x(tool.time_s);
      pen.beginPath(); pen.moveTo(x, y - 5); pen.lineTo(x + 5, y); pen.lineTo(x, y + 5); pen.lineTo(x - 5, y); pen.closePath();
      pen.fillStyle = tool.ok ? ink.accent : ink.panel;
      pen.strokeStyle = tool.ok ? ink.accent : ink.s4;
      pen.fill(); pen.stroke();
      const text = words(tool.tool), width = pen.measureText(text).width;
      const next = this.call.tools.filter((other) => other.time_s > tool.time_s).map((other) => this.x(other.time_s))[0] ?? Infinity;
      if (x + 9 > free && x + 9 + width < next - 6) {
        pen.fillStyle = ink.soft;
        pen.fillText(text, x + 9, y + 0.5);
        free = x + 12 + width;
      }
    }
  }

  drawEvents(pen, ink, tops) {
    const y = tops.events + this.lanes.events / 2;
    pen.textAlign = "left";
    let free = -Infinity;
    for (const event of this.call.events.filter((item) => item.time_s !== null).sort((a, b) => a.time_s - b.time_s)) {
      const x = this.x(event.time_s), colour = ink[event.severity.toLowerCase()];
      pen.strokeStyle = colour;
      pen.beginPath(); pen.moveTo(x + 0.5, tops.events + 3); pen.lineTo(x + 0.5, tops.line); pen.globalAlpha = 0.7; pen.stroke(); pen.globalAlpha = 1;
      const text = words(event.event), width = pen.measureText(text).width + 10;
      const left = Math.min(x, this.width - width - 4);
      pen.fillStyle = colour;
      if (left > free) {
        pen.beginPath(); pen.roundRect(left, y - 8, width, 16, 3); pen.fill();
        pen.fillStyle = ink.panel;
        pen.fillText(text, left + 5, y + 0.5);
        free = left + width + 2;
      } else {
        pen.beginPath(); pen.arc(x, y, 4, 0, Math.PI * 2); pen.fill();
      }
    }
  }

  drawLabels(pen, ink, tops) {
    pen.fillStyle = ink.panel;
    pen.fillRect(0, 0, Timeline.GUTTER - 1, this.height);
    pen.strokeStyle = ink.rule;
    pen.beginPath(); pen.moveTo(Timeline.GUTTER - 0.5, 0); pen.lineTo(Timeline.GUTTER - 0.5, this.height); pen.stroke();
    pen.textAlign = "left";
    const names = { events: ["Events"], caller: ["Caller"], replies: ["Latency", "s"], agent: ["Agent"], line: ["Line", "agent hears"], tools: ["Tools"] };
    for (const [lane, [name, note]] of Object.entries(names)) {
      if (!this.lanes[lane]) continue;
      const middle = tops[lane] + this.lanes[lane] / 2;
      pen.fillStyle = ink.ink;
      pen.fillText(name, 9, note && lane === "line" ? middle - 6 : middle);
      if (note && lane === "line") { pen.fillStyle = ink.faint; pen.font = `10px ${ink.sans}`; pen.fillText(note, 9, middle + 8); pen.font = `11px ${ink.sans}`; }
    }
  }
}
