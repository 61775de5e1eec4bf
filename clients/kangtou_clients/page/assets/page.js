"use strict";
// Draws a match step by step. Knows cards, seats, texts and nothing of any game: what to draw is in the data.

const data = JSON.parse(document.getElementById("data").textContent);
const [SUITS, JOKERS] = [{ S: "♠", H: "♥", C: "♣", D: "♦" }, { BJ: "☆", RJ: "★" }];
const PACES = [4, 2, 1, 0.5, 0.25, 0]; // seconds a step; 0: as it was played
const LONGEST_WAIT_S = 10;
const now = { lang: data.lang, viewer: 0, at: 0, pace: 2, timer: 0 };
let steps = []; // the viewer's frames: { frame, time, …, told, changes: [name, value, …], think: by seat so far }
let shown = { at: -1, values: {} };

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

// ---- the viewer's steps, and what is shown at one of them ----

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

// ---- cards and texts ----

function cardName(code) {
  if (code in JOKERS) return word(`joker.${code}`);
  return word("card", { rank: code[1] === "T" ? "10" : code[1], suit: word(`suit.${code[0]}`) });
}

function card(code) {
  const [lies, stands] = code.split("=");
  const is = stands || lies, joker = is in JOKERS;
  const found = make("span", `card ${joker ? "J" : is[0]}${is[1] === "T" ? " ten" : ""}`,
    make("span", "rank", joker ? JOKERS[is] : is[1] === "T" ? "10" : is[1]),
    make("span", "glyph", joker ? (is === "RJ" ? "大" : "小") : SUITS[is[0]]),
    make("span", "letter", joker ? is : is[0]));
  if (stands) {
    found.classList.add("named");
    found.append(make("span", "as", JOKERS[lies]));
  }
  found.setAttribute("role", "img");
  found.title = stands ? word("joker.as", { joker: cardName(lies), card: cardName(stands) }) : cardName(lies);
  found.setAttribute("aria-label", found.title);
  return found;
}

function cards(list) {
  const found = make("div", "cards");
  for (const code of list ? list.split(" ") : []) {
    if (code[0] !== "?") { found.append(card(code)); continue; }
    const back = make("span", "card back");
    back.setAttribute("role", "img");
    back.setAttribute("aria-label", word("hidden", { n: code.slice(1) }));
    const times = make("span", "times", `×${code.slice(1)}`);
    times.setAttribute("aria-hidden", "true");
    found.append(back, times);
  }
  return found;
}

function chip(code) { // in a text: ♥10, a seat's number and name, or a hidden card
  if (/^\d+$/.test(code)) return seatLabel(Number(code));
  if (code === "??") return "▒";
  const joker = code in JOKERS, rank = code[1] === "T" ? "10" : code[1];
  const found = make("span", `chip ${joker ? "J" : code[0]}`, joker ? JOKERS[code] + cardName(code) : SUITS[code[0]] + rank);
  found.title = cardName(code);
  return found;
}

function seatLabel(seat) {
  const { name } = data.head.seats[seat];
  const found = make("span", "seat-label", make("b", "number", String(seat)), ` ${name || word("seat", { seat })}`);
  found.title = word("seat", { seat });
  return found;
}

function rich(line) {
  return line.split(/⟦([^⟧]*)⟧/).map((piece, place) => (place % 2 ? chip(piece) : piece));
}

function told(step, into) { // its lines, one below the other
  const lines = data.values[step.told].map(text).filter(Boolean);
  lines.forEach((line, place) => into.append(...(place ? [make("br")] : []), ...rich(line)));
  return into;
}

// ---- the table ----

function drawSeat(seat, values, step) {
  const { name, kind } = data.head.seats[seat], asked = values.asked.includes(seat);
  const found = make("div", "seat");
  found.dataset.seat = seat;
  found.classList.toggle("asked", asked);
  found.classList.toggle("acted", step.seat === seat);
  const marks = make("div", "marks");
  if (asked) marks.append(make("span", "mark turn", `▸ ${word("to_act")}`));
  if (step.seat === seat) marks.append(make("span", "mark", word("acted")));
  if (values[`shown${seat}`]) {
    const codes = values[`shown${seat}`].split(" ");
    marks.append(make("span", "mark", `${word("shows")} `, ...codes.flatMap((code) => [chip(code), " "])));
  }
  for (const mark of values[`marks${seat}`]) marks.append(make("span", "mark", ...rich(text(mark))));
  const time = make("span", "clock", `◷ ${clock(step.think[seat])}`);
  time.title = word("thinking");
  marks.append(time);
  const who = make("div", "who", make("b", "number", String(seat)), make("span", "name", name || word("seat", { seat })),
    make("span", "quiet", lang(kind)), make("span", "score", word("score", { score: values.scores[seat] })));
  const hand = cards(values[`hand${seat}`]);
  if (!values[`hand${seat}`]) hand.append(make("span", "quiet", word("empty")));
  found.append(who, marks, hand);
  return found;
}

function drawSpot(seat, values, place) {
  const [list, note, best] = values[`laid${seat}`], found = make("div", `spot ${place}`);
  const said = [text(note), best ? word("to_beat") : ""].filter(Boolean).join(" · ");
  found.dataset.spot = seat;
  found.classList.toggle("best", best);
  if (list) found.append(cards(list));
  if (said) found.append(make("span", "said", ...(best ? ["▲ "] : []), ...rich(said)));
  return found;
}

function drawTable(values, step) {
  const viewer = data.viewers[now.viewer], count = seats.length;
  const bottom = typeof viewer === "number" ? viewer : 0;
  const places = { far: [], left: [], right: [], near: [] };
  for (let order = count - 1; order >= 0; order--) { // play goes anticlockwise: the next seat sits to the right
    const place = order === 0 ? "near" : count === 2 ? "far" : order === 1 ? "right" : order === count - 1 ? "left" : "far";
    places[place].push((bottom + order) % count);
  }
  $("table").classList.toggle("pair", count === 2);
  for (const [place, found] of Object.entries(places)) {
    $(place).replaceChildren(...found.map((seat) => drawSeat(seat, values, step)));
  }
  const areas = make("div", "areas small-cards");
  values.areas.forEach(([title, list], at) => { // areas of one name, side by side under it
    const former = at && values.areas[at - 1][0] === title;
    if (!former) areas.append(make("div", "area", make("div", "", ...rich(text(title))), make("div", "groups")));
    areas.lastChild.lastChild.append(cards(list));
  });
  $("middle").classList.toggle("full", values.areas.length > 1);
  const lines = make("ul", "lines", ...values.lines.map((line) => make("li", "", ...rich(text(line)))));
  $("middle").replaceChildren(
    make("div", "spots", ...places.far.map((seat) => drawSpot(seat, values, ""))),
    ...places.left.map((seat) => drawSpot(seat, values, "l")), areas,
    ...places.right.map((seat) => drawSpot(seat, values, "r")),
    ...places.near.map((seat) => drawSpot(seat, values, "b")), lines);
}

const hasTricks = (round) => steps.some((step) => step.round === round && step.trick > 1);

function placeName({ round, trick }) {
  if (!round) return word("before");
  return word("round", { round }) + (hasTricks(round) ? ` · ${word("trick", { trick })}` : "");
}

// ---- one step ----

function draw() {
  const step = steps[now.at], values = valuesAt(now.at);
  drawTable(values, step);
  const [first, ...facts] = values.head.length ? values.head.map(text) : [placeName(step)];
  if (hasTricks(step.round)) facts.unshift(word("trick", step));
  $("where").replaceChildren(make("b", "", ...rich(first)), ...facts.map((fact) => make("span", "pill", ...rich(fact))));
  const said = told(step, make("span"));
  $("now").replaceChildren(said);
  if (step.thought >= 0) said.append(make("span", "quiet", word("thought", { s: seconds(step.thought) })));
  const position = word("position", { now: now.at + 1, all: steps.length });
  $("seek").value = now.at;
  $("seek").setAttribute("aria-valuetext", `${position}, ${placeName(step)}`);
  $("count").textContent = `${clock(step.time)} · ${position}`;
  for (const button of document.querySelectorAll("[data-do]")) {
    const ahead = /^(on|last)/.test(button.dataset.do), back = /^(back|first)/.test(button.dataset.do);
    button.disabled = (ahead && now.at === steps.length - 1) || (back && now.at === 0);
  }
  const jumps = [...$("jump").options].filter((option) => Number(option.value) <= now.at);
  if (jumps.length) $("jump").value = jumps[jumps.length - 1].value;
  mark();
}

function mark() { // in the log and the sheet: what is past, here, or still to come
  document.querySelectorAll(".here").forEach((one) => one.classList.remove("here"));
  for (const one of document.querySelectorAll("[data-at]")) one.classList.toggle("later", Number(one.dataset.at) > now.at);
  const here = document.querySelector(`#log li[data-at="${now.at}"]`), log = $("log");
  here.classList.add("here");
  const low = here.offsetTop + here.offsetHeight - log.clientHeight;
  if (here.offsetTop < log.scrollTop || low > log.scrollTop) log.scrollTop = low + log.clientHeight / 3;
}

function go(at) {
  now.at = Math.max(0, Math.min(steps.length - 1, at));
  draw();
  clearTimeout(go.later); // browsers limit how often the address may change
  go.later = setTimeout(() => history.replaceState(null, "", `#${now.at + 1}`), 400);
}

// ---- moving about ----

function turn(same, way) { // to where the next (the same or the former) round or trick begins
  const begins = (at) => at === 0 || !same(steps[at], steps[at - 1]);
  let at = now.at + way;
  while (at > 0 && at < steps.length && !begins(at)) at += way;
  return at;
}
const sameRound = (one, other) => one.round === other.round;
const sameTrick = (one, other) => sameRound(one, other) && one.trick === other.trick;

const actions = {
  first: () => go(0), last: () => go(steps.length - 1),
  back: () => go(now.at - 1), on: () => go(now.at + 1),
  backTrick: () => go(turn(sameTrick, -1)), onTrick: () => go(turn(sameTrick, 1)),
  backRound: () => go(turn(sameRound, -1)), onRound: () => go(turn(sameRound, 1)),
  play: () => (now.timer ? stop() : run()),
};

function stop() {
  clearTimeout(now.timer);
  now.timer = 0;
  $("play").textContent = "▶";
  $("play").setAttribute("aria-label", word("play"));
}

function run() {
  if (now.at === steps.length - 1) now.at = -1;
  if (now.at < 0) go(0);
  $("play").textContent = "❚❚";
  $("play").setAttribute("aria-label", word("pause"));
  const next = () => {
    if (now.at === steps.length - 1) { stop(); return; }
    const real = Math.min(Math.max(0, steps[now.at + 1].time - steps[now.at].time) / 1000, LONGEST_WAIT_S);
    now.timer = setTimeout(() => { go(now.at + 1); next(); }, 1000 * (PACES[now.pace] || real));
  };
  next();
}

function setPace(place) {
  now.pace = Math.max(0, Math.min(PACES.length - 1, place));
  $("pace").value = now.pace;
  if (now.timer) { stop(); run(); }
}

function setViewer(viewer) {
  if (viewer < 0 || viewer >= data.viewers.length) return;
  const { frame } = steps[now.at];
  load(viewer);
  now.at = placeOf(frame);
  rebuild();
}

function setLang(code) {
  now.lang = code;
  rebuild();
}

// ---- what changes with viewer and language only ----

function drawSheet() {
  const head = make("tr", "", make("th", "", word("sheet.round")), ...seats.map((seat) => {
    const cell = make("th", "", seatLabel(seat));
    cell.scope = "col";
    return cell;
  }));
  const rows = [];
  for (const { frame, round, points, totals, told: lines } of data.sheet) {
    const place = placeOf(frame), link = make("a", "", String(round));
    link.href = `#${place + 1}`;
    link.onclick = (event) => { event.preventDefault(); go(place); };
    const row = make("tr", "has-told", make("td", "", link), ...seats.map((seat) => make("td", "",
      points ? (points[seat] > 0 ? "+" : "") + points[seat] : word("void"), make("span", "sum", String(totals[seat])))));
    const more = make("td", "told");
    more.colSpan = seats.length + 1;
    lines.map(text).filter(Boolean).forEach((line, number) => more.append(...(number ? [make("br")] : []), ...rich(line)));
    const below = make("tr", "", more);
    row.dataset.at = below.dataset.at = place;
    rows.push(row, below);
  }
  const final = valuesAt(steps.length - 1), last = make("tr", "total", make("th", "", word("sheet.end")),
    ...seats.map((seat) => make("td", "", String(final.scores[seat]),
      ...(final.places.length ? [make("span", "sum", word("place", { place: final.places[seat] }))] : []))));
  last.dataset.at = steps.length - 1;
  $("sheet").replaceChildren(make("thead", "", head), make("tbody", "", ...rows, last));
}

function drawLog() {
  const sections = [];
  let list = null, before = null;
  steps.forEach((step, at) => {
    if (!before || !sameRound(before, step)) {
      const title = step.round ? word("round", { round: step.round }) : word("before");
      sections.push(make("section", "", make("h3", "", title), (list = make("ol"))));
      sections[sections.length - 1].dataset.at = at;
    }
    const item = make("li", before && !sameTrick(before, step) ? "trick" : "", make("span", "time", clock(step.time)),
      told(step, make("span")), make("span", "thought", step.thought >= 0 ? `${seconds(step.thought)} s` : ""));
    item.dataset.at = at;
    list.append(item);
    before = step;
  });
  $("log").replaceChildren(...sections);
}

function drawJumps() {
  const groups = [];
  steps.forEach((step, at) => {
    if (at && sameTrick(step, steps[at - 1])) return;
    if (!at || !sameRound(step, steps[at - 1])) groups.push(make("optgroup"));
    const group = groups[groups.length - 1];
    group.label = step.round ? word("round", { round: step.round }) : word("before");
    group.append(new Option(placeName(step), at));
  });
  $("jump").replaceChildren(...groups);
}

function drawHead() {
  const { head } = data, date = new Date(head.began).toISOString().slice(0, 16).replace("T", " ");
  document.documentElement.lang = now.lang === "zh" ? "zh-Hans" : "en";
  $("title").textContent = `${lang(head.title)} · ${head.match}`;
  $("about").textContent = [`${head.game}`, `${date} UTC`, word(head.rated ? "rated" : "unrated"),
    head.turn ? word("clock", { s: head.turn / 1000 }) : "", head.window ? word("clock.window", { s: head.window / 1000 }) : "",
    viewerName(data.viewers[now.viewer]), ...head.options.map(([name, value]) => `${name}=${value}`)].filter(Boolean).join(" · ");
  for (const one of document.querySelectorAll("[data-word]")) one.textContent = word(one.dataset.word);
  for (const one of document.querySelectorAll("[data-label]")) {
    one.setAttribute("aria-label", word(one.dataset.label));
    if (one.tagName === "BUTTON") one.title = word(one.dataset.label);
  }
  $("language").textContent = word("language");
  $("view").replaceChildren(...data.viewers.map((viewer, place) => new Option(viewerName(viewer), place)));
  $("view").value = now.viewer;
  $("view").disabled = data.viewers.length === 1;
  $("pace").replaceChildren(...PACES.map((s, place) => new Option(s ? word("pace.of", { s }) : word("pace.real"), place)));
  $("pace").value = now.pace;
  $("keylist").replaceChildren(...KEYS.flatMap(([keys, what]) => {
    const names = keys.map((key) => make("kbd", "", key)).flatMap((key, place) => (place ? [" ", key] : [key]));
    return [make("dt", "", ...names), make("dd", "", word(what))];
  }));
}

function viewerName(viewer) {
  return typeof viewer === "number" ? word("view.seat", { seat: viewer }) : word(`view.${viewer}`);
}

function rebuild() {
  const playing = now.timer;
  stop();
  $("seek").max = steps.length - 1;
  drawHead();
  drawSheet();
  drawLog();
  drawJumps();
  draw();
  if (playing) run();
}

// ---- keys and buttons ----

const KEYS = [
  [["→", "←"], "key.step"], [["↓", "↑"], "key.trick"], [["PgDn", "PgUp"], "key.round"], [["Home", "End"], "key.ends"],
  [["Space"], "key.play"], [["-", "+"], "key.pace"], [["0", "…", "9"], "key.seat"], [["o", "s"], "key.open"],
  [["m"], "key.later"], [["l"], "key.lang"], [["p"], "key.print"], [["?"], "key.help"],
];
const toggleLater = () => { document.body.classList.toggle("spoil", $("later").checked); };
const pressed = {
  ArrowRight: actions.on, ArrowLeft: actions.back, ArrowDown: actions.onTrick, ArrowUp: actions.backTrick,
  PageDown: actions.onRound, PageUp: actions.backRound, Home: actions.first, End: actions.last, " ": actions.play,
  "+": () => setPace(now.pace + 1), "=": () => setPace(now.pace + 1), "-": () => setPace(now.pace - 1),
  o: () => setViewer(data.viewers.indexOf("open")), s: () => setViewer(data.viewers.indexOf("spectator")),
  l: () => setLang(now.lang === "en" ? "zh" : "en"), p: () => window.print(), "?": () => $("keys").showModal(),
  m: () => { $("later").checked = !$("later").checked; toggleLater(); },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const on = event.target.tagName;
  if (on === "SELECT" || (on === "INPUT" && event.target.type === "checkbox" && event.key === " ")) return;
  if ((on === "BUTTON" || on === "A") && (event.key === " " || event.key === "Enter")) return;
  const act = /^[0-9]$/.test(event.key) ? () => setViewer(data.viewers.indexOf(Number(event.key))) : pressed[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]"), item = event.target.closest("#log li");
  if (button) actions[button.dataset.do]();
  if (item) go(Number(item.dataset.at));
});
$("seek").oninput = () => go(Number($("seek").value));
$("jump").onchange = () => go(Number($("jump").value));
$("pace").onchange = () => setPace(Number($("pace").value));
$("view").onchange = () => setViewer(Number($("view").value));
$("later").onchange = toggleLater;
$("language").onclick = pressed.l;
$("print").onclick = pressed.p;
$("help").onclick = pressed["?"];
$("close").onclick = () => $("keys").close();
window.onhashchange = () => go(Number(location.hash.slice(1)) - 1 || 0);

load(0);
now.at = Math.max(0, Math.min(steps.length - 1, Number(location.hash.slice(1)) - 1 || 0));
rebuild();
