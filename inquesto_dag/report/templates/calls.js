"use strict";
// The table of calls: filters, sorting, and which call is open. One call's data arrives by its own script file.
const INDEX = JSON.parse(document.getElementById("index").textContent);
const SEVERITY = Object.fromEntries(INDEX.events.map((event) => [event.name, event.severity]));
const loaded = new Map();
const waiting = new Map();
window.inquestoCall = (call) => { loaded.set(call.id, call); waiting.get(call.id)?.resolve(call); };

const fetchCall = (id) => {
  if (loaded.has(id)) return Promise.resolve(loaded.get(id));
  if (!waiting.has(id)) {
    const entry = {};
    entry.promise = new Promise((resolve, reject) => Object.assign(entry, { resolve, reject }));
    waiting.set(id, entry);
    document.head.append(el("script", {
      src: `calls/${encodeURIComponent(id)}.js`,
      on: { error: () => { waiting.delete(id); entry.reject(new Error(`calls/${id}.js could not be read`)); } },
    }));
  }
  return waiting.get(id).promise;
};

const COLUMNS = [
  { key: "outcome", name: "Result", sort: (row) => outcome(row)[1] },
  { key: "scenario", name: "Scenario", sort: (row) => row.scenario },
  { key: "role", name: "Caller", sort: (row) => `${row.role} ${row.style}` },
  { key: "condition", name: "Line", sort: (row) => INDEX.conditions.indexOf(row.condition) },
  { key: "group", name: "Group", sort: (row) => INDEX.groups.indexOf(row.group) },
  { key: "goal", name: "Goal", sort: (row) => yesNo(row.goal) },
  { key: "events", name: "Events", sort: (row) => (row.max_severity ?? -1) * 100 + row.events.length },
  { key: "latency", name: "Latency", title: "median reply latency, s", number: true, sort: (row) => row.latency ?? -Infinity },
  { key: "duration", name: "Length", title: "s", number: true, sort: (row) => row.duration ?? -Infinity },
  { key: "why", name: "Why", sort: (row) => row.why ?? "" },
];
const FILTERS = [
  { key: "outcome", name: "Result", value: (row) => outcome(row)[1] },
  { key: "family", name: "Family", value: (row) => row.family },
  { key: "style", name: "Style", value: (row) => row.style },
  { key: "role", name: "Caller", value: (row) => row.role },
  { key: "condition", name: "Line", value: (row) => row.condition },
  { key: "group", name: "Group", value: (row) => row.group },
  { key: "event", name: "Event", value: (row) => row.events },
];
const table = { filters: {}, text: "", sort: null, ascending: true, rows: INDEX.calls };

const matches = (row) =>
  FILTERS.every(({ key, value }) => {
    const wanted = table.filters[key];
    if (!wanted) return true;
    const found = value(row);
    return Array.isArray(found) ? found.includes(wanted) : found === wanted;
  }) &&
  (!table.text || `${row.id} ${row.family} ${row.style} ${row.role} ${row.why ?? ""} ${row.ended_by}`.toLowerCase().includes(table.text.toLowerCase()));

const cell = (row, column) => {
  switch (column.key) {
    case "outcome": return pill(row);
    case "scenario": return el("a", { href: `#/call/${encodeURIComponent(row.id)}`, title: row.id }, words(row.family));
    case "role": return el("span", {}, row.role === "goal_directed" ? words(row.style) : `${words(row.role)}`);
    case "condition": return words(row.condition);
    case "group": return el("span", { class: "nowrap" }, row.group.replace("_", " "));
    case "goal": return yesNo(row.goal);
    case "events": return row.events.length ? row.events.map((name) => chip(name, SEVERITY[name])) : el("span", { class: "faint" }, DASH);
    case "latency": return fixed(row.latency);
    case "duration": return fixed(row.duration, 1);
    case "why": return prose(row.why);
    default: return shown(row[column.key]);
  }
};

const drawTable = () => {
  const column = COLUMNS.find(({ key }) => key === table.sort);
  table.rows = INDEX.calls.filter(matches);
  if (column) {
    const direction = table.ascending ? 1 : -1;
    table.rows.sort((a, b) => {
      const [one, other] = [column.sort(a), column.sort(b)];
      return direction * (typeof one === "number" ? one - other : String(one).localeCompare(String(other))) || a.order - b.order;
    });
  }
  const head = el("tr", {}, COLUMNS.map(({ key, name, number, title }) => el("th", {
    class: number ? "num" : null, title, scope: "col", "data-sort": key, tabindex: 0,
    "aria-sort": table.sort === key ? (table.ascending ? "ascending" : "descending") : null,
    on: { click: () => sortBy(key), keydown: (event) => { if (event.key === "Enter") sortBy(key); } },
  }, name)));
  const body = table.rows.map((row) => el("tr", {
    "data-call": row.id, tabindex: -1,
    on: { click: (event) => { if (!event.target.closest("a")) location.hash = `#/call/${encodeURIComponent(row.id)}`; } },
  }, COLUMNS.map((column) => el("td", { class: column.number ? "num" : column.key === "why" ? "why" : null }, cell(row, column)))));
  document.getElementById("calls").replaceChildren(el("thead", {}, head), el("tbody", {}, body));
  document.getElementById("nothing").hidden = body.length > 0;
  document.getElementById("count").textContent = `${table.rows.length} of ${INDEX.calls.length} calls`;
  document.getElementById("reset").hidden = !table.text && !Object.values(table.filters).some(Boolean);
};
const sortBy = (key) => {
  table.ascending = table.sort === key ? !table.ascending : true;
  table.sort = key;
  drawTable();
};
const setFilter = (key, value) => {
  table.filters[key] = value;
  const select = document.getElementById(`filter-${key}`);
  select.value = value;
  select.classList.toggle("on", Boolean(value));
  drawTable();
};

const drawFilters = () => {
  const bar = document.getElementById("filters");
  for (const { key, name, value } of FILTERS) {
    const counts = new Map();
    for (const row of INDEX.calls) for (const item of [value(row)].flat()) counts.set(item, (counts.get(item) ?? 0) + 1);
    const order = key === "condition" ? INDEX.conditions : key === "group" ? INDEX.groups : key === "event" ? INDEX.events.map((event) => event.name) : [...counts.keys()].sort();
    bar.append(el("select", { id: `filter-${key}`, "aria-label": name, on: { change: (event) => setFilter(key, event.target.value) } },
      el("option", { value: "" }, `${name}: all`),
      order.filter((item) => counts.has(item)).map((item) => el("option", { value: item }, `${words(item)} (${counts.get(item)})`))));
  }
  bar.append(
    el("input", { id: "search", type: "search", placeholder: "Search", "aria-label": "search", on: { input: (event) => { table.text = event.target.value; drawTable(); } } }),
    el("button", { id: "reset", class: "ghost", type: "button", on: { click: reset } }, "Clear filters"),
    el("span", { id: "count", class: "count", "aria-live": "polite" }),
  );
};
const reset = () => {
  table.text = "";
  document.getElementById("search").value = "";
  for (const { key } of FILTERS) setFilter(key, "");
};

let open = null;
let overviewScroll = 0;
const route = async () => {
  const match = location.hash.match(/^#\/call\/(.+)$/);
  const overview = document.getElementById("overview"), page = document.getElementById("call");
  if (open) { open.destroy(); open = null; } else if (match && !overview.hidden) overviewScroll = scrollY;
  if (!match) {
    page.hidden = true;
    page.replaceChildren();
    if (overview.hidden) { overview.hidden = false; scrollTo(0, overviewScroll); }
    document.title = INDEX.title;
    return;
  }
  const id = decodeURIComponent(match[1]);
  overview.hidden = true;
  page.hidden = false;
  scrollTo(0, 0);
  const back = el("a", { href: "#" }, "\u2190 All calls");
  if (!INDEX.calls.some((row) => row.id === id)) {
    page.replaceChildren(el("p", {}, back), el("p", { class: "empty" }, `There is no call ${id} in this record.`));
    return;
  }
  if (!INDEX.calls.find((row) => row.id === id).opened) {
    page.replaceChildren(el("p", {}, back), el("p", { class: "empty" }, `No call ${id} was recorded: ${shown(INDEX.calls.find((row) => row.id === id).why)}.`));
    return;
  }
  try {
    const call = await fetchCall(id);
    if (location.hash !== match.input) return;
    document.title = `${id} \u00b7 ${INDEX.title}`;
    open = new CallPage(page, call);
  } catch (error) {
    page.replaceChildren(el("p", {}, back), el("p", { class: "empty" }, `${error.message}; the folder "calls" must lie beside this page.`));
  }
};

drawFilters();
drawTable();
for (const row of document.querySelectorAll("tr[data-event]:not(.none)")) {
  row.addEventListener("click", () => {
    setFilter("event", row.dataset.event);
    document.getElementById("call-list").scrollIntoView({ behavior: "smooth" });
  });
}
addEventListener("hashchange", route);
route();
