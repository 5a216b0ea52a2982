"use strict";
// Small helpers. Text of calls reaches the page through textContent alone, never as markup.
const DASH = "\u2013";
const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [name, listener] of Object.entries(value)) node.addEventListener(name, listener);
    else if (key === "class") node.className = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};
const fixed = (value, digits = 2) => (value === null || value === undefined ? DASH : value.toFixed(digits).replace("-", "\u2212"));
const seconds = (value, digits = 2) => (value === null || value === undefined ? DASH : `${fixed(value, digits)} s`);
const shown = (value) => (value === null || value === undefined || value === "" ? DASH : String(value));
const words = (name) => shown(name).replaceAll("_", " ");
const yesNo = (value) => (value === null || value === undefined ? DASH : value ? "yes" : "no");
const clock = (time) => {
  const tenths = Math.floor(Math.max(0, time) * 10 + 1e-6);
  return `${Math.floor(tenths / 600)}:${String(Math.floor((tenths % 600) / 10)).padStart(2, "0")}.${tenths % 10}`;
};
const inline = (value) => {
  if (value === null || value === undefined) return DASH;
  if (Array.isArray(value)) return value.length ? value.map(inline).join(", ") : "none";
  if (typeof value === "object") return Object.entries(value).map(([key, item]) => `${words(key)}: ${inline(item)}`).join(" \u00b7 ");
  return typeof value === "number" && !Number.isInteger(value) ? String(Math.round(value * 1000) / 1000) : String(value);
};
const prose = (text) => (text ? text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => (SEVERITY[name] ? words(name) : name)) : DASH);
const outcome = (row) => {
  if (row.status && row.status !== "scored") return ["open", words(row.status)];
  if (row.passed === null || row.passed === undefined) return ["open", DASH];
  return row.passed ? ["pass", "Pass"] : ["fail", "Fail"];
};
const pill = (row) => { const [kind, text] = outcome(row); return el("span", { class: `verdict ${kind}` }, text); };
const chip = (name, severity) => el("span", { class: `chip ${severity || "S1"}`, title: severity || "" }, words(name));
