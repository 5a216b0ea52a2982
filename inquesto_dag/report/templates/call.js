"use strict";
// One call: the sound with its timeline, the transcript beside what was heard, events, verdicts, tools, account.
const PLAY = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3.5 1.8v12.4L14 8z"/></svg>';
const PAUSE = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 2h3.6v12H3zM9.4 2H13v12H9.4z"/></svg>';
const OWN_TIMES = { endpoint_s: "endpoint at", recognition_s: "recognition", brain_s: "brain", first_token_s: "first token", first_sentence_s: "first sentence", synthesis_s: "synthesis", first_audio_s: "first audio" };

class CallPage {
  constructor(page, call) {
    this.call = call;
    this.page = page;
    this.audio = el("audio", { preload: "auto" });
    this.source = "call";
    this.neighbours = typeof table !== "undefined"; // a recording from elsewhere stands alone
    this.keys = (event) => this.key(event);
    document.addEventListener("keydown", this.keys);
    page.replaceChildren(this.crumbs(), this.header(), this.player(), this.columns());
    this.timeline = new Timeline(page.querySelector(".timeline"), call, INDEX.limits, SEVERITY, {
      seek: (time) => this.seek(time),
      hover: (time, y) => this.describe(time, y),
    });
    if (call.audio) this.audio.src = call.audio.call;
    this.audio.addEventListener("play", () => this.running());
    this.audio.addEventListener("pause", () => this.running());
    this.audio.addEventListener("seeked", () => this.show());
    this.audio.addEventListener("loadedmetadata", () => { if (this.pending !== undefined) this.audio.currentTime = this.pending; this.pending = undefined; });
    this.audio.addEventListener("error", () => {
      this.now.textContent = `The recording could not be read: ${this.audio.getAttribute("src")}`;
    });
    this.show();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    document.removeEventListener("keydown", this.keys);
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.timeline.destroy();
  }

  neighbour(step) {
    const rows = table.rows.some((row) => row.id === this.call.id) ? table.rows : INDEX.calls;
    return rows[rows.findIndex((row) => row.id === this.call.id) + step];
  }

  go(step) { const row = this.neighbour(step); if (row) location.hash = `#/call/${encodeURIComponent(row.id)}`; }

  crumbs() {
    const rows = table.rows.some((row) => row.id === this.call.id) ? table.rows : INDEX.calls;
    const place = rows.findIndex((row) => row.id === this.call.id);
    const button = (label, step) => el("button", { class: "ghost", type: "button", disabled: !rows[place + step], on: { click: () => this.go(step) } }, label);
    return el("div", { class: "crumbs" },
      el("a", { href: "#" }, "\u2190 All calls"),
      el("span", { class: "push" }, el("span", { class: "soft small" }, `${place + 1} of ${rows.length}`), button("Previous", -1), button("Next", 1)));
  }

  header() {
    const { call } = this, people = call.population;
    const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
    const scenario = call.scenario;
    const action = scenario?.required_action;
    const facts = el("dl", { class: "facts call-facts" },
      fact("Caller", people.role === "goal_directed" ? words(people.style) : `${words(people.role)}, ${words(people.style)}`),
      fact("Voice", el("span", {}, words(people.group), " ", el("small", {}, people.voice))),
      fact("Line", el("span", {}, words(people.condition), call.snr_db === null ? "" : el("small", {}, ` ${fixed(call.snr_db, 1)} dB SNR`))),
      fact("Ended", words(call.ended_by)),
      fact("Goal", el("span", {}, yesNo(call.result.goal), el("small", {}, ` state ${yesNo(call.result.goal_state)}, judge ${yesNo(call.result.goal_judged)}`))),
      fact("Worst event", call.result.max_severity ? el("span", { class: `sev S${call.result.max_severity}` }, `S${call.result.max_severity}`) : "none"));
    return el("section", { class: "panel" },
      el("div", { class: "call-title" }, pill({ ...call.result }), el("h1", {}, words(people.family)), el("code", { class: "soft" }, call.id)),
      el("p", { class: "why-line" }, prose(call.result.why)),
      call.infrastructure_error ? el("p", { class: "notice" }, call.infrastructure_error) : null,
      call.trail ? el("p", { class: "soft small", id: "trail" }, "Back to its sound, with digests: ", el("code", {}, call.trail)) : null,
      scenario ? el("p", { class: "soft small" }, `Caller\u2019s goal: ${scenario.goal}`,
        action ? ` \u00b7 required: ${action.tool}(${inline(action.arguments)})` : " \u00b7 no action required",
        scenario.corrects ? ` \u00b7 corrects ${words(scenario.corrects.detail)}: \u201c${scenario.corrects.first}\u201d to \u201c${scenario.corrects.corrected}\u201d` : "") : null,
      facts);
  }

  sources() { return [["call", "Both sides", "caller left, agent right"], ["line", "What the agent hears", "the line, noise included"]]; }

  player() {
    const { call } = this;
    this.button = el("button", { class: "play", id: "play", type: "button", "aria-label": "Play", disabled: !call.audio, on: { click: () => this.toggle() } });
    this.button.innerHTML = PLAY;
    this.clock = el("span", { class: "clock" });
    const side = (key, label, title) => el("button", { type: "button", title, "data-source": key, "aria-pressed": String(key === this.source), disabled: !call.audio, on: { click: () => this.listen(key) } }, label);
    this.now = el("span", { class: "now" });
    const zoom = (label, name, factor) => el("button", { class: "ghost", type: "button", "aria-label": name, on: { click: () => this.timeline.zoomTo(factor ? this.timeline.zoom * factor : 1) } }, label);
    const swatch = (colour, label) => el("span", {}, el("i", { style: `background:var(--${colour})` }), label);
    return el("section", { class: "panel", style: "margin-top:1rem" },
      el("div", { class: "transport" },
        this.button, this.clock,
        el("span", { class: "segmented", role: "group", "aria-label": "what to listen to" },
          this.sources().map(([key, label, title]) => side(key, label, title))),
        el("select", { "aria-label": "speed", on: { change: (event) => { this.audio.playbackRate = Number(event.target.value); } } },
          [0.5, 0.75, 1, 1.25, 1.5, 2].map((rate) => el("option", { value: rate, selected: rate === 1 }, `${rate}\u00d7`))),
        el("span", { class: "push" }, el("span", { class: "faint small" }, el("kbd", {}, "space"), " play  ", el("kbd", {}, "\u2190"), el("kbd", {}, "\u2192"), " 5 s  ", el("kbd", {}, "e"), " next event", this.neighbours ? ["  ", el("kbd", {}, "["), el("kbd", {}, "]"), " calls"] : null),
          zoom("\u2212", "zoom out", 1 / 1.6), zoom("Fit", "whole call", 0), zoom("+", "zoom in", 1.6))),
      el("div", { class: "timeline", id: "timeline" }),
      el("div", { class: "readout" }, this.now,
        el("span", { class: "legend" },
          swatch("s3-soft", "both speak"),
          el("span", {}, el("i", { style: "background:var(--s2);width:2px" }), `slow ${INDEX.limits.slow_median_s} s`),
          el("span", {}, el("i", { style: "background:var(--s3);width:2px" }), `talk-over \u2212${INDEX.limits.talk_over_s} s, late ${INDEX.limits.slow_turn_s} s`))),
      this.audio);
  }

  columns() {
    return el("div", { class: "grid" },
      el("div", { class: "w8 stack" },
        el("section", { class: "panel" },
          el("header", {}, el("h2", {}, "Transcript"), el("span", { class: "small" }, "caller: what the agent heard, misheard words marked; agent: what is read off the recording")),
          this.transcript()),
        this.tools()),
      el("div", { class: "w4 stack" }, this.events(), this.account(), this.brain(), this.verdicts()));
  }

  at(time, label) {
    return time === null || time === undefined ? null : el("button", { class: "seek", type: "button", on: { click: (event) => { event.stopPropagation(); this.seek(time); } } }, label ?? clock(time));
  }

  transcript() {
    const grid = el("div", { class: "script", id: "transcript" },
      ["Time", "Who", "Said", "Heard"].map((name) => el("div", { class: "head" }, name)));
    const tools = [...this.call.tools];
    const addTools = (before) => {
      while (tools.length && tools[0].time_s < before) {
        const tool = tools.shift();
        grid.append(el("div", { class: "tool", on: { click: () => this.seek(tool.time_s) } }, `${tool.ok ? "\u25c6" : "\u25c7 refused:"} ${tool.tool}(${inline(tool.arguments)})`));
      }
    };
    this.rows = this.call.turns.map((turn) => {
      addTools(turn.start);
      const row = el("div", { class: `row ${turn.speaker}`, on: { click: () => this.seek(turn.start) } },
        el("div", {}, this.at(turn.start)),
        el("div", {}, el("div", { class: "who" }, turn.speaker === "caller" ? "Caller" : "Agent"), this.latency(turn)),
        el("div", {}, turn.own.length ? turn.own.map((own) => el("div", { class: "own" }, shown(own.said), this.ownTimes(own))) : el("span", { class: "faint" }, DASH)),
        el("div", {}, turn.speaker === "caller" ? this.heard(turn) : this.recording(turn)));
      grid.append(row);
      return [turn.start, turn.end, row];
    });
    addTools(Infinity);
    return grid;
  }

  latency(turn) {
    if (turn.latency === null) return null;
    const kind = { s2: "warn", s3: "bad" }[this.kind(turn.latency)] ?? "";
    return el("span", { class: `lat ${kind}`, title: "agent onset minus caller offset, on the recording" }, seconds(turn.latency));
  }

  kind(latency) { return Timeline.prototype.kind.call({ limits: INDEX.limits }, latency); }

  ownTimes(own) {
    const times = Object.entries(OWN_TIMES).filter(([name]) => name in own.times).map(([name, label]) => `${label} ${fixed(own.times[name])}`);
    return el("div", { class: "meta", title: "the simulator\u2019s own account; detectors never read it" }, words(own.move), times.length ? ` \u00b7 ${times.join(" \u00b7 ")} s` : "");
  }

  heard(turn) {
    const heard = turn.own.filter((own) => own.heard !== null);
    if (!heard.length) return el("span", { class: "faint" }, turn.found ? "not heard by the agent" : "not found on the recording");
    return heard.map((own) => el("div", { class: "own" }, own.pieces.map(([mark, got, said]) =>
      mark === "same" ? `${got} ` : mark === "missed" ? el("mark", { class: "missed", title: "not heard" }, said) : el("mark", { class: mark, title: mark === "changed" ? `said: ${said}` : "not said" }, got)).flatMap((piece) => [piece, " "])));
  }

  recording(turn) {
    if (!turn.found) return el("span", { class: "faint" }, "not found on the recording");
    return el("div", { class: "soft" }, shown(turn.text), el("div", { class: "meta" }, `confidence ${fixed(turn.confidence)}`));
  }

  section(name, note, cards, none, id) {
    return el("section", { class: "panel", id }, el("header", {}, el("h2", {}, name), note ? el("span", { class: "small" }, note) : null),
      el("div", { class: "cards" }, cards.length ? cards : el("p", { class: "soft small" }, none)));
  }

  events() {
    const cards = this.call.events.map((event) => el("div", { class: `card sev${event.severity.slice(1)}` },
      el("div", { class: "top" }, el("span", { class: `sev ${event.severity}` }, event.severity), el("b", {}, words(event.event)), el("span", { class: "soft small" }, `${event.clause ? `${event.clause}, ` : ""}${event.source}`), el("span", { class: "push" }, this.at(event.time_s))),
      event.value === null ? null : el("p", {}, `${fixed(event.value)} ${event.unit ?? ""}, threshold ${fixed(event.threshold)} ${event.threshold === null ? "" : event.unit ?? ""}`),
      event.definition ? el("p", {}, event.definition) : null,
      el("details", {}, el("summary", {}, "Evidence"), el("pre", {}, typeof event.evidence === "string" ? event.evidence : JSON.stringify(event.evidence, null, 1)))));
    return this.section("Events", cards.length ? `${cards.length}` : "", cards, this.call.result.status === "scored" ? "None: nothing went wrong that the protocol names." : "None was detected, and the call is not scored.", "events");
  }

  verdicts() {
    const cards = this.call.verdicts.map((verdict) => el("div", { class: "card" },
      el("div", { class: "top" }, el("b", {}, words(verdict.question)), el("span", { class: "push" }, yesNo(verdict.answer))),
      el("p", {}, shown(verdict.reason)),
      el("details", {}, el("summary", {}, "Question and evidence"), verdict.text ? el("p", {}, verdict.text) : null, el("pre", {}, `${verdict.judge}, asked ${verdict.attempts === 1 ? "once" : `${verdict.attempts} times`}\n${JSON.stringify(verdict.evidence, null, 1)}`))));
    return this.section("Judge", "", cards, "Not judged.", "verdicts");
  }

  tools() {
    const cards = this.call.tools.map((tool) => el("div", { class: "card" },
      el("div", { class: "top" }, el("b", { class: "mono" }, tool.tool), el("span", { class: "soft small" }, tool.ok ? "" : "refused"), el("span", { class: "push" }, this.at(tool.time_s))),
      el("p", {}, inline(tool.arguments)),
      tool.versions[0] === tool.versions[1] ? null : el("p", {}, `account version ${tool.versions[0]} \u2192 ${tool.versions[1]}`),
      el("details", {}, el("summary", {}, "Answer"), el("pre", {}, typeof tool.result === "string" ? tool.result : JSON.stringify(tool.result, null, 1)))));
    return this.section("Tool calls", cards.length ? `${cards.length}` : "", cards, "The agent called no tool.", "tools");
  }

  account() {
    const changes = this.call.changes;
    if (changes === null) return null;
    const cards = changes.map((change) => el("div", { class: "card" }, el("div", { class: "mono" }, change.path), el("p", {}, `${shown(change.before)} \u2192 ${shown(change.after)}`)));
    return this.section("Account", "before and after", cards, "Stands as it stood before the call.", "account");
  }

  brain() {
    const brain = this.call.brain;
    if (!brain) return null;
    const tokens = (count) => count === null ? "unknown" : `${count}`;
    const money = brain.money === null ? "unknown" : `${brain.currency} ${brain.money.toFixed(4)} (prices of ${brain.prices_of})`;
    const odd = [["empty", "empty replies"], ["turns_left_out", "earlier turns left out of its window"], ["refused_calls", "tool calls over the cap"]].filter(([name]) => brain[name]);
    return this.section("Language model", brain.served ?? brain.model, [el("div", { class: "card" },
      el("p", {}, `Tokens in ${tokens(brain.tokens_in)}, out ${tokens(brain.tokens_out)} \u00b7 cost ${money}`),
      odd.map(([name, label]) => el("p", {}, `${brain[name]} ${label}`)),
      brain.faults.length ? el("details", {}, el("summary", {}, `${brain.faults.length} failures of its endpoint, tried again`), el("pre", {}, brain.faults.join("\n"))) : null)], "", "brain");
  }

  toggle() {
    if (!this.call.audio) return;
    if (this.audio.paused) this.audio.play().catch((error) => { this.now.textContent = `The recording does not play: ${error.message}`; });
    else this.audio.pause();
  }

  listen(source) {
    if (!this.call.audio || source === this.source) return;
    const playing = !this.audio.paused;
    this.pending = this.audio.currentTime;
    const rate = this.audio.playbackRate;
    this.source = source;
    this.audio.src = this.call.audio[source];
    this.audio.defaultPlaybackRate = rate;
    for (const button of this.page.querySelectorAll("[data-source]")) button.setAttribute("aria-pressed", String(button.dataset.source === source));
    if (playing) this.toggle();
  }

  seek(time) {
    const wanted = Math.min(Math.max(0, time), Math.max(0, this.call.duration - 0.02));
    if (this.audio.readyState === 0) this.pending = wanted; else this.audio.currentTime = wanted;
    this.show(wanted);
  }

  running() {
    const playing = !this.audio.paused;
    this.button.innerHTML = playing ? PAUSE : PLAY;
    this.button.setAttribute("aria-label", playing ? "Pause" : "Play");
    cancelAnimationFrame(this.frame);
    const tick = () => { this.show(); if (!this.audio.paused) this.frame = requestAnimationFrame(tick); };
    tick();
  }

  show(time = this.pending ?? this.audio.currentTime) {
    this.clock.textContent = `${clock(time)} / ${clock(this.call.duration)}`;
    this.timeline?.moveTo(time, !this.audio.paused);
    for (const [start, end, row] of this.rows) row.classList.toggle("now", time >= start && time < end);
  }

  describe(time, y) {
    if (time === null) { this.now.textContent = ""; return; }
    const near = this.call.replies.find((reply) => time >= Math.min(reply.offset, reply.onset) - 0.3 && time <= Math.max(reply.offset, reply.onset) + 0.3);
    const { tops } = this.timeline;
    if (near && y >= tops.replies && y < tops.agent) {
      this.now.textContent = `reply to turn ${near.reply_to}: caller ends ${seconds(near.offset)}, agent begins ${seconds(near.onset)}, latency ${seconds(near.latency)}`;
      return;
    }
    const turns = this.call.turns.filter((turn) => time >= turn.start && time < turn.end);
    this.now.textContent = `${clock(time)} ${turns.map((turn) => `${turn.speaker}: ${turn.own.map((own) => own.said).join(" ") || turn.text || ""}`).join("  |  ")}`;
  }

  key(event) {
    if (event.target.closest("input, select, textarea, [contenteditable]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const time = this.pending ?? this.audio.currentTime;
    const actions = {
      " ": () => this.toggle(), k: () => this.toggle(),
      ArrowLeft: () => this.seek(time - (event.shiftKey ? 1 : 5)), ArrowRight: () => this.seek(time + (event.shiftKey ? 1 : 5)),
      l: () => this.listen(this.source === "call" ? "line" : "call"),
      e: () => { const times = this.call.events.map((item) => item.time_s).filter((at) => at !== null).sort((a, b) => a - b); const next = times.find((at) => at > time + 0.05) ?? times[0]; if (next !== undefined) this.seek(next); },
      "[": () => this.go(-1), "]": () => this.go(1),
      Escape: () => { location.hash = "#"; },
    };
    const action = actions[event.key];
    if (!action || (event.key === " " && event.target.closest("button, a, summary"))) return;
    event.preventDefault();
    action();
  }
}
