"use strict";
// One recording that nobody simulated: the page of a call without scenario, judge and account.
const INDEX = JSON.parse(document.getElementById("index").textContent);
const SEVERITY = Object.fromEntries(INDEX.events.map((event) => [event.name, event.severity]));

class MeasuredPage extends CallPage {
  sources() { return [["call", "As recorded", "caller left, agent right"], ["line", "As measured", "what the annotator was given"]]; }
  crumbs() { return el("span", {}); }
  header() { return el("span", {}); }
  go() { /* there is no other call */ }
  columns() {
    return el("div", { class: "grid" },
      el("div", { class: "w8 stack" },
        el("section", { class: "panel" },
          el("header", {}, el("h2", {}, "Turns"), el("span", { class: "small" }, this.call.words ? "read off the recording; latency is agent onset minus caller offset" : "times alone: no words were read")),
          this.transcript()),
        this.call.tools.length ? this.tools() : null),
      el("div", { class: "w4 stack" }, this.events()));
  }
}
new MeasuredPage(document.getElementById("call"), INDEX.call);
