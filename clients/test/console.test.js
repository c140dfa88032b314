// The scripts of the console at `/`, as the server serves them: what they make of documents, with graphql-js as the
// judge, and how they keep a user signed in.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { buildClientSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { Town, ask } from '../town.js';

const DOCUMENTS = [
  '{me{nickname}}',
  'query A { me { id } } mutation B($x: ID!) { likePost(postId: $x) { liked } } fragment F on User { id }',
  `query ($a:ID!$b:[ID!]!=["x" "y"],$c:Boolean=false){a:getUser(id:$a)@include(if:$c){...F...on User@skip(if:$c){id}...@include(if:true){id}}}
   fragment F on User{posts(first:2,after:null){edges{node{content}}}}`,
  `mutation { createPost(input: {content: "two  spaces, a # and a }", contentType: text, media: [{s3Key: "a" contentType: "b"}, {s3Key: "c", contentType: "d"}], tags: [] }) { id } }`,
  'mutation { createPost(input: {content: """\n  a block\n\n\n    with } lines # and \\""" quotes\n""", contentType: text}) { id } }',
  '# first\nquery A( # of a\n  $a: ID # its id\n) { # opens\n  me { id } # the caller\n  # the end\n}\n# last',
  '{ on query { fragment } mutation: subscription type(on: {on: 1 query: -2.5e3 b: [[1] [2, 3]]}) }',
  'subscription S { onFeedEntry { previewText } }',
];

/** A script of the console, from the server. */
async function load(town, name) {
  const source = await (await fetch(`${town.url}/console/${name}`)).text();
  return import(`data:text/javascript;base64,${Buffer.from(source).toString('base64')}`);
}

const meaning = (text) => parse(text, { noLocation: true });
const comments = (text) => text.replaceAll(/"""[^]*?[^\\]"""|"[^"]*"/g, '').match(/#.*/g);

describe('a document in the console', () => {
  let town, script, types, roots, schema;

  before(async () => {
    town = await Town.open();
    script = await load(town, 'document.js');
    const ana = await town.person('ana');
    const introspection = await ask(ana.client, getIntrospectionQuery());
    schema = buildClientSchema(introspection);
    types = new Map(introspection.__schema.types.map((type) => [type.name, type]));
    roots = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' };
  });
  after(() => town?.close());

  it('means the same after it was laid out, and is stable then', () => {
    for (const document of DOCUMENTS) {
      const pretty = script.prettify(document);
      assert.deepEqual(meaning(pretty), meaning(document), pretty);
      assert.deepEqual(comments(pretty), comments(document), pretty);
      assert.equal(script.prettify(pretty), pretty);
    }
  });

  it('has one field a line', () => {
    const pretty = script.prettify('query A($id:ID!){a:getUser(id:$id)@skip(if:false){id posts(first:1){edges{node{id}}}}me{id}}');
    const lines = [
      'query A($id: ID!) {',
      '  a: getUser(id: $id) @skip(if: false) {',
      '    id',
      '    posts(first: 1) {',
      '      edges {',
      '        node {',
      '          id',
      '        }',
      '      }',
      '    }',
      '  }',
      '  me {',
      '    id',
      '  }',
      '}',
    ];
    assert.deepEqual(pretty.trimEnd().split('\n'), lines);
  });

  it('stays as it is if it is none', () => {
    for (const text of ['{ me { id } } %', 'a; b', '']) assert.equal(script.prettify(text).trim(), text);
  });

  it('runs the operation at the cursor', () => {
    for (const document of DOCUMENTS) {
      const found = meaning(document).definitions.filter((each) => each.kind === 'OperationDefinition');
      const expected = found.map(({ operation, name }) => [operation, name?.value]);
      assert.deepEqual(script.operations(document).map(({ kind, name }) => [kind, name]), expected, document);
    }
    const document = 'query A { me { query B } }\n# of C\nmutation C { x(text: "query D { }") }\nfragment F on User { id }';
    const at = (part) => script.operationAt(document, document.indexOf(part)).name;
    assert.deepEqual(['query B', '# of C', 'query D'].map(at), ['A', 'C', 'C']);
  });

  it('is completed with names that the schema has there', () => {
    const names = (text) => script.completions(text, types, roots).all.map(({ name }) => name);
    assert.deepEqual(names(''), ['query', 'mutation', 'subscription', 'fragment']);
    assert.ok(names('{ ').includes('getFeed'));
    assert.ok(names('mutation A($id: ID!) { a: ').includes('likePost'));
    assert.ok(names('{ getUser(id: "{(") { posts { edges { node { ').includes('likeCount'));
    assert.ok(names('fragment F on User { ').includes('nickname'));
    assert.ok(names('{ node(nodeId: "x") { ... on ').includes('Post'));
    assert.deepEqual(names('{ getUser('), ['id']);
    assert.deepEqual(names('{ me { posts(first: 1, sortDirection: '), ['ASC', 'DESC']);
    assert.deepEqual(names('{ me { id } } # {'), ['query', 'mutation', 'subscription', 'fragment']);
  });

  it('has three valid samples', async () => {
    const source = await (await fetch(`${town.url}/console/console.js`)).text();
    const samples = /const SAMPLES = `(.*?[^\\])`;/s.exec(source)[1].replaceAll('\\`', '`');
    assert.deepEqual(validate(schema, parse(samples)), []);
    const kinds = script.operations(samples).map(({ kind, name }) => `${kind} ${name}`);
    assert.deepEqual(kinds, ['query Popular', 'query Feed', 'mutation Login']);
  });
});

/** The storage of one browser, which its tabs share. */
class BrowserStorage {
  #items = new Map();
  getItem = (key) => this.#items.get(key) ?? null;
  setItem = (key, value) => this.#items.set(key, value);
  removeItem = (key) => this.#items.delete(key);
}

/** Locks as browsers have them: one holder at a time. */
class BrowserLocks {
  #last = Promise.resolve();
  request(_name, work) {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}

describe('a session of the console', { timeout: 60_000 }, () => {
  const password = 'ana likes tests', email = 'ana@example.com', me = { query: '{ me { nickname } }' };
  const storage = new BrowserStorage();
  let town, script, bo, session, pasted;

  before(async () => {
    town = await Town.open({ ROUNDTABLE_SIGN_IN__TOKEN_SECONDS: '4' });
    script = await load(town, 'session.js');
    await town.person('ana');
    session = tab(storage);
    await session.signIn(email, password);
    bo = await town.person('bo');
    pasted = tab();
    await pasted.signInWith(bo.token);
  });
  after(() => town?.close());

  const tab = (shared = new BrowserStorage(), locks) => new script.Session(town.graphql, shared, locks);
  const nickname = async (of) => (await of.request(me)).answer.data.me?.nickname;
  const stored = () => JSON.parse(storage.getItem('roundtable.session'));
  /** Sets the time at which the token is renewed. */
  const renewAt = (time) => storage.setItem('roundtable.session', JSON.stringify({ ...stored(), renewAt: time }));
  const anonymously = (query) => tab().request({ query, variables: { token: stored().refreshToken } });

  /** Waits until the server refuses a token. */
  async function expired(token) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify(me);
    while ((await fetch(town.graphql, { method: 'POST', headers, body })).status !== 401) await setTimeout(50);
  }

  it('sends the headers of the user, and their credential before its own', async () => {
    assert.equal(await nickname(tab()), undefined);
    assert.equal(await nickname(pasted), 'bo');
    assert.equal(await nickname(session), 'ana');
    const { answer } = await session.request(me, { Authorization: `Bearer ${bo.token}` });
    assert.equal(answer.data.me.nickname, 'bo');
    assert.deepEqual(await session.connectionPayload({ 'X-Api-Key': 'own' }), { 'X-Api-Key': 'own' });
    assert.equal((await session.request(me, { 'x-api-key': 'rtk.forged' })).status, 401);
  });

  it('renews the access token before it expires', async () => {
    const { refreshToken, renewAt: planned } = stored();
    renewAt(Date.now());
    assert.equal(await nickname(session), 'ana');
    assert.notEqual(stored().refreshToken, refreshToken);
    assert.ok(stored().renewAt >= planned);
  });

  it('is shared by tabs, which never use a refresh token twice', async () => {
    const locks = new BrowserLocks();
    const tabs = [tab(storage, locks), tab(storage, locks)];
    renewAt(Date.now());
    assert.deepEqual(await Promise.all([...tabs, ...tabs].map(nickname)), ['ana', 'ana', 'ana', 'ana']);
    // Pages without TLS have no locks, but a tab is alone then.
    renewAt(Date.now());
    assert.deepEqual(await Promise.all([session, session, session].map(nickname)), ['ana', 'ana', 'ana']);
    renewAt(Date.now());
    assert.equal(await nickname(tabs[0]), 'ana');
  });

  it('renews the access token if the server says that it has expired', async () => {
    // As with a clock that is slow.
    renewAt(Date.now() + 3_600_000);
    await expired(stored().accessToken);
    assert.equal(await nickname(session), 'ana');
  });

  it('says when a pasted token expired', async () => {
    await expired(bo.token);
    const truth = /^Error: The access token expired at .*\d:\d\d.*\. Sign in again\.$/;
    await assert.rejects(pasted.request(me), truth);
    await assert.rejects(tab().signInWith(bo.token), truth);
  });

  it('gives the server’s reason for any other refusal', async () => {
    const other = tab();
    await assert.rejects(other.signInWith('forged'), /The server refused the token: the token is invalid/);
    await assert.rejects(other.signIn(email, 'wrong'), /the password is wrong/);
    assert.equal(other.isSignedIn, false);
    const nowhere = new script.Session('http://127.0.0.1:1/graphql', new BrowserStorage());
    await assert.rejects(nowhere.signIn(email, password), /the connection was lost/);
  });

  it('says that it has ended', async () => {
    await anonymously('mutation ($token: String!) { logout(refreshToken: $token) }');
    renewAt(Date.now());
    await assert.rejects(session.request(me), { message: 'Your session has ended. Sign in again.' });
    assert.equal(session.isSignedIn, true, 'requests must not become anonymous without notice');
  });

  it('ends at the server when the user signs out', async () => {
    await session.signIn(email, password);
    const left = stored();
    await session.signOut();
    assert.equal(session.isSignedIn, false);
    storage.setItem('roundtable.session', JSON.stringify(left));
    const { answer } = await anonymously('mutation ($token: String!) { refreshToken(refreshToken: $token) { expiresIn } }');
    assert.equal(answer.errors[0].extensions.code, 'UNAUTHENTICATED');
  });
});
