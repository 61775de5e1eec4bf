// What changes with viewer and language only: head, score sheet, log, lists.

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
      points ? (points[seat] > 0 ? "+" : "") + points[seat] : word("void"), " ", make("span", "sum", String(totals[seat])))));
    const more = make("td", "told");
    more.colSpan = seats.length + 1;
    lines.map(text).filter(Boolean).forEach((line, number) => more.append(...(number ? [make("br")] : []), ...rich(line)));
    const below = make("tr", "", more);
    row.dataset.at = below.dataset.at = place;
    rows.push(row, below);
  }
  const final = valuesAt(steps.length - 1), last = make("tr", "total", make("th", "", word("sheet.end")),
    ...seats.map((seat) => make("td", "", `${final.scores[seat]} `,
      ...(final.places.length ? [make("span", "sum", word("place", { place: final.places[seat] }))] : []))));
  last.dataset.at = steps.length - 1;
  $("sheet").replaceChildren(make("thead", "", head), make("tbody", "", ...rows, last));
}

function drawLog() {
  const sections = [];
  let list = null, before = null;
  rounds = [];
  mark.place = -1;
  steps.forEach((step, at) => {
    if (!before || !sameRound(before, step)) {
      const title = step.round ? word("round", { round: step.round }) : word("before");
      sections.push(make("section", "", make("h3", "", title), (list = make("ol"))));
      sections[sections.length - 1].dataset.at = at;
      rounds.push({ at, items: [] });
    }
    const item = make("li", before && !sameTrick(before, step) ? "trick" : "", make("span", "time", clock(step.time)),
      told(step, make("span")), make("span", "thought", step.thought >= 0 ? `${seconds(step.thought)} s` : ""));
    item.dataset.at = at;
    rounds[rounds.length - 1].items.push(item);
    list.append(item);
    before = step;
  });
  $("log").replaceChildren(...sections);
}

function drawJumps() {
  const groups = [];
  jumps = [];
  steps.forEach((step, at) => {
    if (at && sameTrick(step, steps[at - 1])) return;
    if (!at || !sameRound(step, steps[at - 1])) groups.push(make("optgroup"));
    const group = groups[groups.length - 1];
    group.label = step.round ? word("round", { round: step.round }) : word("before");
    group.append(new Option(placeName(step), at));
    jumps.push(at);
  });
  $("jump").replaceChildren(...groups);
}

function drawHead() {
  const { head } = data, date = new Date(head.began).toISOString().slice(0, 16).replace("T", " ");
  document.documentElement.lang = now.lang === "zh" ? "zh-Hans" : "en";
  $("title").textContent = `${lang(head.title)} · ${head.match}`;
  $("about").textContent = [`${head.game}`, `${date} UTC`, word(head.rated ? "rated" : "unrated"),
    head.turn ? word("clock", { s: head.turn / 1000 }) : "", head.window ? word("clock.window", { s: head.window / 1000 }) : "",
    head.bank ? word("clock.bank", { s: head.bank / 1000, more: head.increment / 1000 }) : "",
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
  marked = document.querySelectorAll("#sheet [data-at], #log section");
  draw();
  if (playing) run();
}
