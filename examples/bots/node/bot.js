'use strict';

// A bot for Kangtou in Node.js: plays one seat of one match and ends. docs/protocol.md is all that one has to know.
//
//   KANGTOU_SERVER=host:port KANGTOU_TOKEN=… KANGTOU_MATCH=… [KANGTOU_SEAT=N] [KANGTOU_ENTROPY=hex] node bot.js
//
// It survives lost connections: it attaches again and repeats what has no answer yet under the same id, which is safe.
// Exit code 0: the match has ended; 1: it cannot go on, and why is on stderr; 2: something is missing in the environment.

const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const { choose, dice } = require('./rules');

const PROTO = process.env.KANGTOU_PROTO || path.join(__dirname, '..', '..', '..', 'proto');
const AGAIN = new Set(['table_unavailable', 'log_unavailable', 'rate_limited', 'too_many_waiting']);
const GIVE_UP_MS = 120_000;

const definition = loader.loadSync('kangtou/v1/play.proto', {
  includeDirs: [PROTO],
  keepCase: true,
  longs: String, // sequence numbers are 64 bits wide
  enums: String,
  defaults: true,
  oneofs: true,
});
const { PlayService } = grpc.loadPackageDefinition(definition).kangtou.v1;

class Bot {
  constructor({ server, token, match, seat, entropy, seed }) {
    this.match = match;
    this.seat = seat;
    this.entropy = entropy;
    this.pick = dice(seed);
    this.metadata = new grpc.Metadata();
    this.metadata.set('authorization', `Bearer ${token}`);
    this.client = new PlayService(server, grpc.credentials.createInsecure(), {
      'grpc.keepalive_time_ms': 10_000,
      'grpc.keepalive_timeout_ms': 10_000,
    });
    this.prefix = `node-${process.pid}-${Date.now()}`;
    this.commands = 0;
    this.waiting = null; // { id, prompt, action, fallback }: the command without an answer
    this.failures = 0;
    this.lostAt = 0;
    this.moves = 0;
  }

  /** Resolves with the exit code. */
  run() {
    return new Promise((resolve) => {
      this.finish = (code, why) => {
        if (this.done) return;
        this.done = true;
        if (why) process.stderr.write(`bot: ${why}\n`);
        this.call?.cancel();
        this.client.close();
        resolve(code);
      };
      this.open();
    });
  }

  /** With the seat if it was told which; a field of a message that is left out means the account's only seat. */
  seated(message) {
    return this.seat === undefined ? message : { ...message, seat: this.seat };
  }

  open() {
    const call = this.client.Play(this.metadata);
    this.call = call;
    call.on('data', (response) => {
      this.failures = 0;
      this.lostAt = 0;
      for (const update of response.updates) this.take(update);
    });
    call.on('error', (error) => this.lost(call, error));
    call.on('end', () => this.lost(call, null));
    call.write({ attach: this.seated({ match_id: this.match, entropy: this.entropy }) });
    if (this.waiting) this.send();
  }

  /** The stream has ended: open another one, unless there is no hope. */
  lost(call, error) {
    if (this.done || call !== this.call) return;
    this.call = null;
    const hopeless = [grpc.status.UNAUTHENTICATED, grpc.status.PERMISSION_DENIED, grpc.status.INVALID_ARGUMENT];
    if (error && hopeless.includes(error.code)) return this.finish(1, error.details);
    this.lostAt = this.lostAt || Date.now();
    if (Date.now() - this.lostAt > GIVE_UP_MS) return this.finish(1, 'the server cannot be reached');
    const delay = Math.min(2000, 50 * 2 ** this.failures++) * (0.5 + Math.random());
    setTimeout(() => this.done || this.open(), delay);
  }

  take(update) {
    switch (update.body) {
      case 'ping':
        this.call?.write({ pong: { nonce: update.ping.nonce } });
        break;
      case 'prompt':
        this.asked(update.prompt);
        break;
      case 'answer':
        this.answered(update.answer);
        break;
      case 'notice':
        if (update.notice.kind === 'NOTICE_KIND_SUPERSEDED') this.finish(1, update.notice.text_en);
        if (update.notice.kind === 'NOTICE_KIND_TABLE_FAULTED') this.finish(1, update.notice.text_en);
        break;
      case 'ended':
        process.stderr.write(`ended: ${update.ended.cause}, scores ${update.ended.scores}, ${this.moves} moves\n`);
        this.finish(0);
        break;
      default: // attached, snapshot, entry, seats: this bot needs no memory
    }
  }

  asked(prompt) {
    if (this.waiting && this.waiting.prompt === prompt.number) return; // put again after a reconnection
    this.order(prompt.number, choose(prompt, this.pick), prompt.default_action);
  }

  order(prompt, action, fallback) {
    this.waiting = { id: `${this.prefix}-${++this.commands}`, prompt, action, fallback };
    this.send();
  }

  send() {
    const { id, prompt, action } = this.waiting;
    this.call?.write({ command: this.seated({ match_id: this.match, command_id: id, prompt, action }) });
  }

  answered(answer) {
    if (!answer.command_id) return this.refusedToAttach(answer.refused);
    if (!this.waiting || answer.command_id !== this.waiting.id) return;
    if (answer.result === 'accepted') {
      this.moves += 1;
      this.waiting = null;
    } else if (AGAIN.has(answer.refused.code)) {
      setTimeout(() => this.waiting && this.send(), 250);
    } else {
      const { prompt, fallback } = this.waiting;
      this.waiting = null;
      if (fallback && answer.refused.code !== 'stale_prompt') this.order(prompt, fallback, null);
    }
  }

  refusedToAttach(refused) {
    if (!AGAIN.has(refused.code)) return this.finish(1, refused.text_en);
    setTimeout(() => this.call?.write({ attach: this.seated({ match_id: this.match, entropy: this.entropy }) }), 500);
  }
}

function fromEnvironment(environment) {
  const missing = ['KANGTOU_SERVER', 'KANGTOU_TOKEN', 'KANGTOU_MATCH'].filter((name) => !environment[name]);
  if (missing.length > 0) {
    process.stderr.write(`bot: ${missing.join(', ')} must be set\n`);
    process.exit(2);
  }
  const number = (name) => (environment[name] ? Number(environment[name]) : undefined);
  return {
    server: environment.KANGTOU_SERVER,
    token: environment.KANGTOU_TOKEN,
    match: environment.KANGTOU_MATCH,
    seat: number('KANGTOU_SEAT'),
    seed: number('KANGTOU_SEED'),
    entropy: Buffer.from(environment.KANGTOU_ENTROPY || '', 'hex'),
  };
}

new Bot(fromEnvironment(process.env)).run().then((code) => {
  process.exitCode = code;
});
