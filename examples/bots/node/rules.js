'use strict';

// How it plays: no knowledge of any game. Of the listed actions it takes one that lays down most cards, else any other than
// a pass; where the list is too long for the prompt it takes the table's default.

/** A whole number from 0 to n-1 that repeats itself for a seed (mulberry32); without one it is Math.random. */
function dice(seed) {
  if (seed === undefined) return (n) => Math.floor(Math.random() * n);
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 4294967296) * n);
  };
}

/** The answer to a prompt: an action as the protocol has it, { verb, args, keys }. */
function choose(prompt, pick) {
  const legal = prompt.legal || [];
  if (legal.length === 0) return prompt.default_action;
  const active = legal.filter((action) => action.verb !== 'pass');
  const among = active.length > 0 && pick(4) > 0 ? active : legal;
  const most = Math.max(...among.map((action) => action.args.length));
  const best = among.filter((action) => action.args.length === most);
  return best[pick(best.length)];
}

module.exports = { choose, dice };
