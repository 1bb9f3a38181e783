import { afterEach, describe, expect, it, vi } from 'vitest';
import { canonicalJson, sha256Hex } from '../../../../src/core/hash.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import { textResult } from '../../../../src/core/tools/tool.ts';
import { decide, decideByLink, mintLink, showApproval, showLinked, showPending } from '../../../../src/objects/session/pending/decide.ts';
import { toSessionView } from '../../../../src/objects/session/object/open-session.ts';
import { readAnswer, streamTurn } from '../../../../src/objects/session/log/turn-reader.ts';
import { calls, ends, finish, makeRoom, reply, types, type Model } from '../runner-session.ts';

afterEach(() => vi.restoreAllMocks());

const once = { by: 'k1', remember: false };
const linkOf = (nonce = '', keyId = 'k1') => ({ nonce, origin: { keyId, at: 0 } });

async function waiting(models: Model[] = [calls(['asks', { command: 'rm' }]), () => reply({ type: 'text', text: 'done' }, finish)]) {
  const ran: string[] = [];
  const room = await makeRoom(models, {
    execute: async (_args, { idempotencyKey }) => {
      ran.push(idempotencyKey);
      return textResult('ran');
    },
  });
  room.accept('t1');
  await room.settle();
  const callId = room.room.waits.pendingApprovals()[0]?.callId ?? '';
  return {
    ...room,
    get room() {
      return room.room;
    },
    ran,
    callId,
    self: room,
  };
}

describe('a turn that waits for approval', () => {
  it('runs nothing, sets only the alarm of its expiry, and shows the whole question', async () => {
    const { room, alarm, clock, ran, callId, self } = await waiting();
    expect(room.runner.active).toBe(false);
    expect(ran).toEqual([]);
    expect(alarm.at).toBe(clock.now() + limits.approvalTtlMs);
    expect(room.turns.current()).toMatchObject({ state: 'waiting', reason: 'approval_required' });
    expect(showPending(self.decisionContext())).toEqual([showApproval(self.decisionContext(), callId)]);
    expect(showApproval(self.decisionContext(), callId)).toMatchObject({
      turn: 't1',
      canonical: 'builtin.bash',
      entry: 'asks',
      arguments: { command: 'rm' },
      state: 'pending',
    });
  });

  it('still waits under the same id after ten crashes, and then runs once', async () => {
    const { self, ran, callId } = await waiting();
    const before = self.events();
    for (let death = 0; death < 10; death += 1) await self.restart();
    expect(self.events()).toEqual(before);
    expect(self.room.waits.pendingApprovals().map((approval) => approval.callId)).toEqual([callId]);
    await decide(self.decisionContext(), callId, 'approve', once);
    await self.settle();
    expect(ran).toEqual([callId]);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('runs the call once for two concurrent approvals, and a repeat has no effect', async () => {
    const { self, ran, callId } = await waiting();
    const both = await Promise.all([1, 2].map(() => decide(self.decisionContext(), callId, 'approve', once)));
    expect(both.map(({ decision, turn }) => `${decision} ${turn}`)).toEqual(['approve t1', 'approve t1']);
    await self.settle();
    expect(await decide(self.decisionContext(), callId, 'approve', once)).toMatchObject({ status: 'completed' });
    await self.settle();
    expect(ran).toHaveLength(1);
    expect(types(self.events()).filter((type) => type === 'approval-decided')).toHaveLength(1);
  });

  it('reports a denial once; a later approval is refused and runs nothing', async () => {
    const { self, ran, callId } = await waiting();
    await decide(self.decisionContext(), callId, 'deny', once);
    await expect(decide(self.decisionContext(), callId, 'approve', once)).rejects.toMatchObject({ code: 'conflict' });
    await self.settle();
    await expect(decide(self.decisionContext(), callId, 'approve', once)).rejects.toMatchObject({ code: 'conflict' });
    expect(await decide(self.decisionContext(), callId, 'deny', once)).toMatchObject({ decision: 'deny' });
    expect(ran).toEqual([]);
    expect(self.events().filter((event) => event.type === 'tool-result')).toMatchObject([{ code: 'denied' }]);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('is denied when the approval expires, and resumes by its own alarm', async () => {
    const { self, ran, callId } = await waiting();
    await self.clock.advance(limits.approvalTtlMs);
    await expect(decide(self.decisionContext(), callId, 'approve', once)).rejects.toMatchObject({ code: 'conflict' });
    await self.ring();
    expect(self.events().find((event) => event.type === 'approval-decided')).toMatchObject({ decision: 'expire', by: 'clock' });
    expect(self.room.waits.get('approval', callId)?.state).toBe('expired');
    expect(ran).toEqual([]);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('resumes after a crash between the decision and the call', async () => {
    const { self, ran, callId } = await waiting();
    const deciding = decide(self.decisionContext(), callId, 'approve', once);
    await deciding;
    // Its run has not reached the call yet.
    await self.restart();
    expect(ran.filter((key) => key === callId).length).toBeLessThanOrEqual(1);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('runs an approved call at once, though others still wait', async () => {
    const { self, ran } = await waiting([calls(['asks', { n: 1 }], ['asks', { n: 2 }]), () => reply(finish)]);
    const [first, second] = self.room.waits.pendingApprovals().map(({ callId }) => callId);
    await decide(self.decisionContext(), second ?? '', 'approve', once);
    await self.settle();
    expect(ran).toEqual([second]);
    expect(self.room.turns.stateOf('t1')).toBe('waiting');
    await decide(self.decisionContext(), first ?? '', 'deny', once);
    await self.settle();
    expect(ran).toEqual([second]);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('ends permanently when it is cancelled, and its approval can no longer be decided', async () => {
    const { self, ran, callId } = await waiting();
    self.accept('t2');
    expect(self.room.runner.cancel()).toBe('t1');
    await self.settle();
    await self.restart();
    await expect(decide(self.decisionContext(), callId, 'approve', once)).rejects.toMatchObject({ code: 'conflict' });
    expect(ran).toEqual([]);
    expect(ends(self.events())).toEqual(['t1 cancelled cancelled', 't2 completed stop']);
    expect(self.events().filter((event) => event.type === 'tool-result')).toMatchObject([{ callId, code: 'aborted' }]);
    expect(self.sent.map((row) => `${row.callId} ${row.verdict} ${row.code}`)).toEqual([`${callId} refused aborted`]);
  });

  it('has a time limit that its waiting does not use up', async () => {
    const { self, callId } = await waiting();
    await self.clock.advance(limits.turnTimeoutMs * 3);
    await decide(self.decisionContext(), callId, 'approve', once);
    await self.settle();
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('stores an approval with `remember` as a rule for that call, before it resumes', async () => {
    const url = 'https://example.com/x';
    const { self, ran, callId } = await waiting([
      calls(['http_request', { url }]),
      calls(['http_request', { url: `${url}/y` }]),
      () => reply(finish),
    ]);
    const remember = { by: 'k1', remember: true };
    await expect(decide(self.decisionContext(), callId, 'deny', remember)).rejects.toMatchObject({ code: 'invalid_request' });
    await decide(self.decisionContext(), callId, 'approve', remember);
    await self.settle();
    expect(self.allowed).toEqual([{ decision: 'allow', kind: 'network', host: 'example.com' }]);
    expect(ran).toHaveLength(2);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('stores a rule only if the approval is the decision that counts', async () => {
    const { self, callId } = await waiting([calls(['http_request', { url: 'https://example.com/' }]), () => reply(finish)]);
    const denied = Promise.withResolvers<void>();
    const digest = crypto.subtle.digest.bind(crypto.subtle);
    // The approval comes first and is still computing the hash of its arguments when the denial is stored.
    vi.spyOn(crypto.subtle, 'digest').mockImplementationOnce(async (algorithm, data) => {
      await denied.promise;
      return digest(algorithm, data);
    });
    const approval = decide(self.decisionContext(), callId, 'approve', { by: 'k1', remember: true });
    await decide(self.decisionContext(), callId, 'deny', once);
    denied.resolve();
    await expect(approval).rejects.toMatchObject({ code: 'conflict' });
    expect(self.allowed).toEqual([]);
  });

  it('repeats `remember` with the same decision when its rule could not be stored', async () => {
    const { self, ran, callId } = await waiting([calls(['http_request', { url: 'https://example.com/' }]), () => reply(finish)]);
    const broken = { ...self.decisionContext(), addRule: () => Promise.reject(new Error('the catalog is unavailable')) };
    const remember = { by: 'k1', remember: true };
    await expect(decide(broken, callId, 'approve', remember)).rejects.toMatchObject({ detail: expect.stringContaining('`remember`') });
    await self.settle();
    expect(await decide(self.decisionContext(), callId, 'approve', remember)).toMatchObject({ status: 'completed' });
    expect(self.allowed).toHaveLength(1);
    expect(ran).toEqual([callId]);
  });

  const toHosts = (...urls: string[]) => waiting([...urls.map((url) => calls(['http_request', { url }])), () => reply(finish)]);
  const pendingReason = (self: Awaited<ReturnType<typeof waiting>>['self']): string =>
    self.room.waits.pendingApprovals()[0]?.reason ?? 'none';

  it('makes the host of an approval known if the key may change the policy, so that it is asked about once', async () => {
    const { self, ran, callId } = await toHosts('https://example.com/x', 'https://EXAMPLE.com:443/y', 'https://example.com:8443/');
    const decided = await decide(self.decisionContext(), callId, 'approve', { by: 'k1', mayWaive: true });
    expect(decided).toMatchObject({ decision: 'approve', knownHosts: ['example.com'] });
    await self.settle();
    expect(ran).toHaveLength(2);
    expect(pendingReason(self)).toContain('example.com:8443, which is new');
  });

  it.each([
    ['the key may not change the policy', { by: 'k1', mayWaive: false }],
    ['it asks for this call only', { by: 'k1', mayWaive: true, remember: false }],
  ])('makes no host known if %s', async (_why, options) => {
    const { self, callId } = await toHosts('https://example.com/x', 'https://example.com/y');
    expect(await decide(self.decisionContext(), callId, 'approve', options)).not.toHaveProperty('knownHosts');
    await self.settle();
    expect(self.allowed).toEqual([]);
    expect(pendingReason(self)).toContain('example.com, which is new');
  });

  it('keeps the approval when its host cannot be made known, and says so; a denial makes none known', async () => {
    const { self, ran, callId } = await toHosts('https://example.com/x');
    const broken = { ...self.decisionContext(), knowHosts: () => Promise.reject(new Error('the catalog is unavailable')) };
    const options = { by: 'k1', mayWaive: true };
    expect(await decide(broken, callId, 'approve', options)).toMatchObject({ warning: expect.stringContaining('example.com') });
    await self.settle();
    expect(ran).toEqual([callId]);
    const other = await toHosts('https://example.com/x');
    await decide(other.self.decisionContext(), other.callId, 'deny', options);
    expect(other.self.allowed).toEqual([]);
  });

  it('remembers an approval for the session and its key, also after a restart, and in no other session', async () => {
    const url = 'https://example.com/';
    const { self, ran, callId } = await toHosts(url, url, 'https://other.example/');
    await decide(self.decisionContext(), callId, 'approve', { by: 'k1', remember: 'session' });
    await self.settle();
    expect(ran).toHaveLength(2);
    expect(self.allowed).toEqual([]);
    expect(pendingReason(self)).toContain('other.example, which is new');
    expect(self.events().find((event) => event.type === 'approval-decided')).toMatchObject({ by: 'k1', remember: 'session' });
    await self.restart();
    const known = { decision: 'allow', kind: 'network', host: 'example.com', key: self.room.meta.keyId, note: expect.any(String) };
    expect(self.room.remembered.list()).toEqual([known]);
    expect(toSessionView('s', self.room).remembered).toEqual([{ decision: 'allow', kind: 'network', host: 'example.com' }]);
    expect((await waiting()).self.room.remembered.list()).toEqual([]);
  });

  it('remembers for the session by a link, and refuses more than it can', async () => {
    const { self, callId } = await toHosts('https://example.com/', 'https://example.com/');
    const { nonce } = await mintLink(self.decisionContext(), callId, 'k1');
    self.room.remembered.add(
      Array.from({ length: 100 }, (_, index) => ({ decision: 'allow', kind: 'network', host: `h${index}.example` })),
    );
    await expect(decideByLink(self.decisionContext(), linkOf(nonce), 'approve', { remember: 'session' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(self.room.waits.get('approval', callId)?.state).toBe('pending');
    self.sql.exec("DELETE FROM remembered WHERE rule LIKE '%h99.example%'");
    await self.restart();
    await decideByLink(self.decisionContext(), linkOf(nonce), 'approve', { remember: 'session' });
    await self.settle();
    expect(ends(self.events())).toEqual(['t1 completed stop']);
    expect(self.allowed).toEqual([]);
  });

  it('refuses `remember` when its entry requires approval every time, without deciding', async () => {
    const { self, callId } = await waiting();
    const remember = { by: 'k1', remember: true };
    await expect(decide(self.decisionContext(), callId, 'approve', remember)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(self.room.waits.get('approval', callId)?.state).toBe('pending');
  });

  it('is decided once by a link, which only shows and decides this question', async () => {
    const { self, ran, callId } = await waiting();
    const { nonce, expiresAt } = await mintLink(self.decisionContext(), callId, 'k1');
    expect(expiresAt).toBe(self.clock.now() + limits.approvalLinkTtlMs);
    expect(JSON.stringify(self.sql.exec('SELECT * FROM approval_links').toArray())).not.toContain(nonce);
    expect(JSON.stringify(self.events())).not.toContain(nonce);
    expect(await showLinked(self.decisionContext(), linkOf(nonce))).toMatchObject({ callId, state: 'pending' });
    await expect(showLinked(self.decisionContext(), linkOf('guessed'))).rejects.toMatchObject({ code: 'not_found' });
    await decideByLink(self.decisionContext(), linkOf(nonce), 'approve');
    await self.settle();
    expect(ran).toEqual([callId]);
    await expect(decideByLink(self.decisionContext(), linkOf(nonce), 'approve')).rejects.toMatchObject({ code: 'not_found' });
    await expect(mintLink(self.decisionContext(), callId, 'k1')).rejects.toMatchObject({ code: 'conflict' });
    expect(self.events().find((event) => event.type === 'approval-decided')).toMatchObject({ by: 'link' });
  });

  it('expires a link at its time', async () => {
    const { self, callId } = await waiting();
    const { nonce } = await mintLink(self.decisionContext(), callId, 'k1');
    await self.clock.advance(limits.approvalLinkTtlMs);
    await expect(decideByLink(self.decisionContext(), linkOf(nonce), 'approve')).rejects.toMatchObject({ code: 'not_found' });
    expect(self.room.waits.get('approval', callId)?.state).toBe('pending');
  });

  it('invalidates a link when the key that created it is revoked, and only then', async () => {
    const { self, ran, callId } = await waiting();
    for (const other of ['k2', 'k3']) self.standing.add(`${other} approve`);
    const [first, second, third] = await Promise.all(['k1', 'k2', 'k3'].map((keyId) => mintLink(self.decisionContext(), callId, keyId)));
    self.standing.delete('k1 approve');
    const gone = { code: 'not_found', detail: expect.stringContaining('key') };
    await expect(showLinked(self.decisionContext(), linkOf(first?.nonce))).rejects.toMatchObject(gone);
    await expect(decideByLink(self.decisionContext(), linkOf(first?.nonce), 'approve')).rejects.toMatchObject(gone);
    expect(self.room.waits.get('approval', callId)?.state).toBe('pending');
    expect(await showLinked(self.decisionContext(), linkOf(third?.nonce, 'k3'))).toMatchObject({ callId });
    await decideByLink(self.decisionContext(), linkOf(second?.nonce, 'k2'), 'approve');
    await self.settle();
    expect(ran).toEqual([callId]);
  });

  it('neither shows nor decides by a link while the key cannot be checked, and does afterwards', async () => {
    const { self, ran, callId } = await waiting();
    const { nonce } = await mintLink(self.decisionContext(), callId, 'k1');
    self.brake.catalog = 2;
    const later = { code: 'internal', detail: expect.stringMatching(/Try again/) };
    await expect(showLinked(self.decisionContext(), linkOf(nonce))).rejects.toMatchObject(later);
    await expect(decideByLink(self.decisionContext(), linkOf(nonce), 'approve')).rejects.toMatchObject(later);
    expect(self.room.waits.get('approval', callId)?.state).toBe('pending');
    await decideByLink(self.decisionContext(), linkOf(nonce), 'approve');
    await self.settle();
    expect(ran).toEqual([callId]);
  });

  it('is decided once by a link when two decisions come during the key check', async () => {
    const { self, callId } = await waiting();
    const { nonce } = await mintLink(self.decisionContext(), callId, 'k1');
    const both = await Promise.allSettled(
      (['deny', 'approve'] as const).map((word) => decideByLink(self.decisionContext(), linkOf(nonce), word)),
    );
    // Either may be first, since both wait for the same lookup.
    const statuses = both.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(self.room.waits.get('approval', callId)?.state === 'denied').toBe(statuses[0] === 'fulfilled');
  });
});

describe('an approval decision writes an audit row and a log line', () => {
  const argumentsHash = async (args: object) => await sha256Hex(canonicalJson(args));
  const rows = (self: Awaited<ReturnType<typeof makeRoom>>) => [
    ...self.sent,
    ...Array.from(self.sql.exec<{ body: string }>('SELECT body FROM audit ORDER BY sequence'), ({ body }) => JSON.parse(body)),
  ];

  it.each([
    ['approve', 'approved'],
    ['deny', 'denied'],
  ] as const)('names the key that decided, and is written once: %s', async (decision, verdict) => {
    const { self, sent, lines, clock, callId } = await waiting();
    for (let times = 0; times < 2; times += 1) await decide(self.decisionContext(), callId, decision, once);
    await self.settle();
    const row = {
      keyId: 'k1',
      session: 's',
      turn: 't1',
      callId,
      requested: 'asks',
      canonical: 'builtin.bash',
      toolset: 'demo',
      edition: 'demo@1.1',
      argumentsHash: await argumentsHash({ command: 'rm' }),
      verdict,
      at: new Date(clock.now()).toISOString(),
    };
    expect(sent.filter((one) => one.verdict === verdict)).toMatchObject([row]);
    // The call itself has its own row, with the same hash.
    expect(sent.filter((one) => one.verdict !== verdict)).toMatchObject([{ callId, argumentsHash: row.argumentsHash }]);
    expect(JSON.stringify(lines).match(/approval decided/g)).toHaveLength(1);
  });

  it('says that a link or the expiry decided', async () => {
    const { self, sent } = await waiting([calls(['asks', { n: 1 }], ['asks', { n: 2 }]), () => reply(finish)]);
    const [first, second] = self.room.waits.pendingApprovals().map(({ callId }) => callId);
    const { nonce } = await mintLink(self.decisionContext(), first ?? '', 'k1');
    await decideByLink(self.decisionContext(), linkOf(nonce), 'deny');
    await self.settle();
    await self.clock.advance(limits.approvalTtlMs);
    await self.ring();
    const words = sent.filter(({ verdict }) => verdict === 'denied' || verdict === 'expired');
    expect(words.map(({ callId, keyId, verdict }) => `${callId} ${keyId} ${verdict}`)).toEqual([
      `${first} link denied`,
      `${second} clock expired`,
    ]);
  });

  it('names a direct call', async () => {
    const self = await makeRoom([]);
    const asked = await self.call({ name: 'asks', arguments: { command: 'x' } });
    const callId = asked.pending?.[0]?.callId ?? '';
    await decide(self.decisionContext(), callId, 'approve', once);
    expect(rows(self).at(-1)).toMatchObject({ callId, turn: null, toolset: 'demo', requested: 'asks', verdict: 'approved' });
    const other = (await self.call({ name: 'asks', arguments: { command: 'y' } })).pending?.[0]?.callId;
    await self.clock.advance(limits.approvalTtlMs);
    await self.ring();
    expect(rows(self).at(-1)).toMatchObject({ callId: other, keyId: 'clock', verdict: 'expired' });
  });

  it('names the outer call of a nested one', async () => {
    const self = await makeRoom([]);
    const key = { toolset: 'demo', canonical: 'builtin.delete_file', entry: 'delete_file', argumentsHash: 'h' };
    const { toolset: _toolset, argumentsHash: _hash, ...named } = key;
    const asked = {
      ...named,
      ask: 'delete-file',
      target: '/a',
      reason: 'It deletes /a',
      question: { effects: [], effectCount: 0, binding: [] },
      round: 1,
      expiresAt: self.clock.now() + 1_000,
    } as const;
    for (const callId of ['call_9.1', 'call_9.1.2']) {
      self.room.waits.addForDirectCall({ ...asked, callId }, { ...key, argumentsHash: callId }, { path: 'a' });
      await decide(self.decisionContext(), callId, 'approve', once);
    }
    expect(rows(self).map(({ callId, parent }) => [callId, parent])).toEqual([
      ['call_9.1', 'call_9'],
      ['call_9.1.2', 'call_9.1'],
    ]);
  });
});

it('deletes decided approvals with their arguments after a while, when a new one is stored', async () => {
  const { self, callId } = await waiting();
  await decide(self.decisionContext(), callId, 'deny', once);
  await self.settle();
  await self.clock.advance(limits.approvalTtlMs);
  await self.call({ name: 'asks', arguments: { n: 1 } });
  expect(showApproval(self.decisionContext(), callId)).toMatchObject({ state: 'denied', arguments: { command: 'rm' } });
  await self.clock.advance(limits.endedWaitTtlMs);
  const { pending } = await self.call({ name: 'asks', arguments: { n: 2 } });
  expect(() => showApproval(self.decisionContext(), callId)).toThrow(expect.objectContaining({ code: 'not_found' }));
  const held = self.sql.exec<{ call_id: string }>('SELECT call_id FROM wait_parts').toArray();
  expect(held.map((row) => row.call_id)).not.toContain(callId);
  expect(held.map((row) => row.call_id)).toContain(pending?.[0]?.callId);
});

describe('a reader of a waiting turn', () => {
  const source = (self: Awaited<ReturnType<typeof waiting>>['self']) => ({ ...self.room, clock: self.clock, isDeleted: () => false });
  const read = async (stream: ReadableStream<Uint8Array>) =>
    [...(await new Response(stream).text()).matchAll(/^event: (.+)$/gm)].map(([, type]) => type);

  it('gets what it waits for, and the end once it has ended', async () => {
    const { self, callId } = await waiting();
    expect(await readAnswer(source(self), 't1')).toMatchObject({
      status: 'waiting',
      reason: 'approval_required',
      toolCalls: [],
      pending: [{ callId, kind: 'approval', canonical: 'builtin.bash', arguments: { command: 'rm' } }],
    });
    await decide(self.decisionContext(), callId, 'approve', once);
    expect(await readAnswer(source(self), 't1')).toMatchObject({ status: 'completed', text: 'done', toolCalls: [{ callId }] });
  });

  it('has a stream that closes after the question, also when it is read after the end', async () => {
    const { self, callId } = await waiting([calls(['read', {}], ['asks', { n: 1 }], ['asks', { n: 2 }]), () => reply(finish)]);
    const early = await read(streamTurn(source(self), 't1'));
    expect(early.slice(-3)).toEqual(['tool-result', 'approval-required', 'approval-required']);
    await decide(self.decisionContext(), callId, 'approve', once);
    self.room.runner.cancel();
    await self.settle();
    expect(await read(streamTurn(source(self), 't1'))).toEqual(early);
  });

  it('of a queued turn gets the question ahead as the response and the whole stream', async () => {
    const { self, callId } = await waiting();
    self.accept('t2');
    expect(await readAnswer(source(self), 't2')).toMatchObject({
      turn: 't2',
      status: 'waiting',
      reason: 'queued',
      pending: [{ callId }],
      toolCalls: [],
    });
    expect(await read(streamTurn(source(self), 't2'))).toEqual(['approval-required']);
  });

  it('is woken when the turn ahead starts to wait', async () => {
    let go = (): void => undefined;
    const room = await makeRoom([calls(['read', {}], ['asks', {}])], {
      execute: () => new Promise((resolve) => (go = () => resolve(textResult('ran')))),
    });
    room.accept('t1');
    room.accept('t2');
    await room.settle();
    const answer = readAnswer({ ...room.room, clock: room.clock, isDeleted: () => false }, 't2');
    const stream = read(streamTurn({ ...room.room, clock: room.clock, isDeleted: () => false }, 't2'));
    go();
    await room.settle();
    expect(await answer).toMatchObject({ reason: 'queued' });
    expect(await stream).toEqual(['approval-required']);
  });
});
