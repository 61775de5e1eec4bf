"use strict";
// Draws a match step by step. Knows cards, seats, texts and nothing of any game: what to draw is in the data.
// The files of this folder are one script, in the order of export.py; this one: the viewer's steps.

const data = JSON.parse(document.getElementById("data").textContent);
const [SUITS, JOKERS] = [{ S: "♠", H: "♥", C: "♣", D: "♦" }, { BJ: "☆", RJ: "★" }];
const PACES = [4, 2, 1, 0.5, 0.25, 0]; // seconds a step; 0: as it was played
const LONGEST_WAIT_S = 10;
const now = { lang: data.lang, viewer: 0, at: 0, pace: 2, timer: 0 };
let steps = []; // the viewer's frames: { frame, time, …, told, changes: [name, value, …], think: by seat so far }
let shown = { at: -1, values: {} };
let marked = []; // rows of the sheet and rounds of the log that are hidden until their step is reached
let rounds = []; // of the log: { at, items }; of one of them only a part has been reached
let jumps = []; // the steps of the list of places
let withTricks = new Set(); // rounds that have more than one

const $ = (id) => document.getElementById(id);
const seats = data.head.seats.map((_, seat) => seat);
const lang = (pair) => pair[now.lang === "en" ? 0 : 1];
const word = (code, params = {}) => lang(data.words[code]).replace(/\{(\w+)\}/g, (_, name) => params[name]);
const text = (place) => lang(data.texts[place]);
const clock = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
const seconds = (ms) => (ms / 1000).toFixed(1);

function make(tag, name = "", ...inside) {
  const found = document.createElement(tag);
  if (name) found.className = name;
  found.append(...inside);
  return found;
}

function load(viewer) {
  const sees = (who) => who === 0 || (who >> viewer) & 1;
  const think = seats.map(() => 0), line = data.names.indexOf("told");
  now.viewer = viewer;
  steps = [];
  let lines = -1;
  data.frames.forEach(([time, seat, thought, round, trick, who, changed], frame) => {
    if (!sees(who)) return; // nothing of it reached this viewer
    const changes = [];
    for (let i = 0; i < changed.length; i += 3) {
      if (!sees(changed[i + 2])) continue;
      changes.push(changed[i], changed[i + 1]);
      if (changed[i] === line) lines = changed[i + 1];
    }
    if (seat >= 0 && thought > 0) think[seat] += thought;
    steps.push({ frame, time, seat, thought, round, trick, told: lines, changes, think: [...think] });
  });
  shown = { at: -1, values: {} };
  withTricks = new Set(steps.filter((step) => step.trick > 1).map((step) => step.round));
}

function valuesAt(at) {
  if (at < shown.at) shown = { at: -1, values: {} };
  while (shown.at < at) {
    const changes = steps[++shown.at].changes;
    for (let i = 0; i < changes.length; i += 2) shown.values[data.names[changes[i]]] = data.values[changes[i + 1]];
  }
  return shown.values;
}

function placeOf(frame) { // the step at a frame, or the next that this viewer has
  const found = steps.findIndex((step) => step.frame >= frame);
  return found < 0 ? steps.length - 1 : found;
}
