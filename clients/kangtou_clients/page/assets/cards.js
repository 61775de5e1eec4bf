// Cards, and texts with cards and seats in them.

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
