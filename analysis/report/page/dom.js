"use strict";
// Building elements. What comes from runs (model output, page titles, addresses, code) is hostile:
// it only ever becomes text nodes or checked links. Nothing in this page parses HTML.

const SVG = "http://www.w3.org/2000/svg";

function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "vars") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : shown(String(child)));
  }
}

// Characters that change the order of text, or that one cannot see, are written out: otherwise code
// and addresses could look like others.
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function shown(text) {
  return text.replace(UNSEEN, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

function link(address, title) {
  const label = title || address || "(no address)";
  let parsed = null;
  try {
    parsed = new URL(address);
  } catch {
    // Not an address: shown as text.
  }
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
    return h("span", { class: "untrusted" }, label, title && address ? ` (${address})` : null);
  }
  return h(
    "span",
    { class: "untrusted" },
    h("a", { href: parsed.href, rel: "noreferrer noopener", target: "_blank" }, label),
    title ? h("small", {}, " ", parsed.host) : null,
  );
}

function badge(text, kind) {
  return h("span", { class: `badge ${kind ?? ""}` }, text);
}

function prose(text) {
  return h("div", { class: "prose untrusted", dir: "auto" }, text);
}

function section(title, ...children) {
  return h("section", { class: "card" }, h("h2", {}, title), ...children);
}

// Lists of facts: [name, value] pairs; those without a value are left out.
function facts(pairs) {
  return h(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

function say(text) {
  document.getElementById("status").textContent = text;
}

// --- numbers as people read them -----------------------------------------------------------------

function number(value, digits = 6) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4))
    return Number(value.toPrecision(Math.min(digits, 4))).toExponential();
  return String(Number(value.toPrecision(Math.max(digits, Math.floor(Math.log10(size || 1)) + 1))));
}

const percent = (value) => (value === null || value === undefined ? "–" : value.toFixed(1));
const signed = (value, digits) => (value > 0 ? "+" : "") + number(value, digits);

function dollars(value) {
  if (value === null || value === undefined) return "unknown";
  if (value === 0) return "$0";
  return `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "unknown";
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function plural(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : (many ?? `${one}s`)}`;
}
