// Moving about: buttons, keys, auto-play.

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
