// A subscription over graphql-ws whose connection is cut: it resumes with `after`, and every event is
// told once, in order.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { Town, ask } from '../town.js';

const NEWEST = `{ getFeed(first: 1) { edges { node { activityId previewText } } } }`;
const ENTRIES = `subscription ($after: ID) { onFeedEntry(after: $after) { activityId previewText } }`;

const ROOM = `mutation ($ids: [ID!]!) { createRoom(input: { scope: dm, memberIds: $ids }) { id } }`;
const SAY = `mutation ($room: ID!, $text: String!) { sendMessage(roomId: $room, text: $text) { id } }`;
const MESSAGES = `subscription ($room: ID!, $after: ID) {
  onSendMessage(roomId: $room, after: $after) { id text }
}`;

/** A client that can be cut off, and stays away until it is let back. */
class Listener {
  #socket;
  #back = deferred();
  #wake = () => {};
  told = [];
  connections = 0;

  constructor(town, person) {
    this.client = createClient({
      url: town.socket,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${person.token}` },
      retryWait: () => this.#back.promise,
      on: {
        connected: (socket) => {
          this.#socket = socket;
          this.connections += 1;
        },
      },
    });
  }

  /** Listens; `take` gives what is told, and the id to come back with. */
  listen(query, variables, take) {
    // When it comes back by itself the client sends this again, with the last id it has seen.
    const payload = { query, variables: { ...variables } };
    const failed = (error) => {
      this.told.push(error);
      this.#wake();
    };
    this.end = this.client.subscribe(payload, {
      next: ({ data, errors }) => {
        if (errors) return failed(errors);
        const { id, text } = take(data);
        payload.variables.after = id;
        this.told.push(text);
        this.#wake();
      },
      error: failed,
      complete: () => {},
    });
  }

  /** Waits until so many were told. */
  async heard(count) {
    while (this.told.length < count) await new Promise((wake) => (this.#wake = wake));
  }

  /** Pulls the plug: no farewell is said. */
  async cut() {
    const gone = new Promise((resolve) => this.client.on('closed', resolve));
    this.#socket.terminate();
    await gone;
  }

  comeBack() {
    this.#back.resolve();
  }
}

function deferred() {
  const made = {};
  made.promise = new Promise((resolve) => (made.resolve = resolve));
  return made;
}

/** Events come while the listener is connected, while it is away, and when it is back. */
async function cutAndResumed(listener, say) {
  const words = Array.from({ length: 30 }, (_, at) => `number ${at + 1}`);
  for (const word of words.slice(0, 10)) await say(word);
  await listener.heard(10);
  await listener.cut();
  for (const word of words.slice(10, 20)) await say(word);
  assert.equal(listener.told.length, 10, 'nothing is delivered to a client that is away');
  listener.comeBack();
  for (const word of words.slice(20)) await say(word);
  await listener.heard(30);
  // A duplicate would be delivered before this.
  await say('the end');
  await listener.heard(31);
  assert.deepEqual(listener.told, [...words, 'the end']);
  assert.equal(listener.connections, 2);
  listener.end();
  await listener.client.dispose();
}

describe('a subscription that is cut', { timeout: 60_000 }, () => {
  let town, ana, bo;

  before(async () => {
    town = await Town.open();
    [ana, bo] = [await town.person('ana'), await town.person('bo')];
    await ana.follow(bo);
  });
  after(() => town?.close());

  it('of a feed resumes where it was', async () => {
    await bo.post('before everything');
    const { getFeed } = await ask(ana.client, NEWEST);
    const [{ node }] = getFeed.edges;
    assert.equal(node.previewText, 'before everything');
    const listener = new Listener(town, ana);
    const take = ({ onFeedEntry: entry }) => ({ id: entry.activityId, text: entry.previewText });
    listener.listen(ENTRIES, { after: node.activityId }, take);
    await cutAndResumed(listener, (text) => bo.post(text));
  });

  it('of a room resumes where it was', async () => {
    const { createRoom } = await ask(ana.client, ROOM, { ids: [bo.id] });
    const room = createRoom.id;
    const say = (text) => ask(bo.client, SAY, { room, text });
    const first = await say('hello');
    const listener = new Listener(town, ana);
    const take = ({ onSendMessage: { id, text } }) => ({ id, text });
    listener.listen(MESSAGES, { room, after: first.sendMessage.id }, take);
    await cutAndResumed(listener, say);
  });
});
