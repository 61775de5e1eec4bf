// The table at one step.

function drawSeat(seat, values, step) {
  const { name, kind } = data.head.seats[seat], asked = values.asked.includes(seat);
  const found = make("div", "seat");
  found.dataset.seat = seat;
  found.setAttribute("role", "group");
  found.setAttribute("aria-label", `${word("seat", { seat })} ${name}`);
  found.classList.toggle("asked", asked);
  found.classList.toggle("acted", step.seat === seat);
  const marks = make("div", "marks"), [left, bank, away] = values[`clock${seat}`];
  if (asked) {
    const until = left < 0 ? "" : ` · ${word("left", { s: Math.round(left / 10) })}`;
    marks.append(make("span", "mark turn", `▸ ${word("to_act")}${until}`));
  }
  if (away) marks.append(make("span", "mark", word("substitute")));
  if (step.seat === seat) marks.append(make("span", "mark", word("acted")));
  if (values[`shown${seat}`]) {
    const codes = values[`shown${seat}`].split(" ");
    marks.append(make("span", "mark", `${word("shows")} `, ...codes.flatMap((code) => [chip(code), " "])));
  }
  for (const mark of values[`marks${seat}`]) marks.append(make("span", "mark", ...rich(text(mark))));
  const time = make("span", "clock", `◷ ${clock(step.think[seat])}`);
  time.title = word("thinking");
  marks.append(time);
  if (bank >= 0) marks.append(make("span", "clock", word("bank", { left: clock(bank * 100) })));
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

const hasTricks = (round) => withTricks.has(round);

function placeName({ round, trick }) {
  if (!round) return word("before");
  return word("round", { round }) + (hasTricks(round) ? ` · ${word("trick", { trick })}` : "");
}

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
  $("jump").selectedIndex = lastReached(jumps, (at) => at);
  mark();
}

function lastReached(list, at) { // the place of the last one that begins here or before; they are in order
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(list[middle]) > now.at) high = middle; else low = middle + 1;
  }
  return low - 1;
}

function mark() { // in the log and the sheet: what is past, here, or still to come
  for (const one of marked) one.classList.toggle("later", Number(one.dataset.at) > now.at);
  const place = lastReached(rounds, (one) => one.at), log = $("log");
  if (mark.place !== place) for (const item of rounds[mark.place]?.items ?? []) item.classList.remove("later");
  mark.place = place;
  const { at, items } = rounds[place], here = items[now.at - at];
  items.forEach((item, number) => item.classList.toggle("later", number > now.at - at));
  log.querySelector(".here")?.classList.remove("here");
  here.classList.add("here");
  follow(here, log, 2);
}

function follow(here, log, again) { // rounds that come into view are laid out only then, and may push the line away
  if (!here.isConnected || !here.classList.contains("here")) return;
  const line = here.getBoundingClientRect(), box = log.getBoundingClientRect();
  if (line.top < box.top || line.bottom > box.bottom) log.scrollTop += line.bottom - box.bottom + log.clientHeight / 3;
  if (again) requestAnimationFrame(() => follow(here, log, again - 1));
}

function go(at) {
  now.at = Math.max(0, Math.min(steps.length - 1, at));
  draw();
  clearTimeout(go.later); // browsers limit how often the address may change
  go.later = setTimeout(() => history.replaceState(null, "", `#${now.at + 1}`), 400);
}
