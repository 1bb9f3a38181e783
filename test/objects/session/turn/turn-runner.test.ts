import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../../src/core/model/chat-event.ts';
import type { PolicyRule } from '../../../../src/core/policy/rule.ts';
import { Problem } from '../../../../src/core/problem.ts';
import { textResult, type ToolResult } from '../../../../src/core/tools/tool.ts';
import { decide } from '../../../../src/objects/session/pending/decide.ts';
import { calls, ends, finish, makeRoom, reply, silence, type Model } from '../runner-session.ts';
import { catalogRetryMs, maxCatalogRetries } from '../../../../src/engine/plan/retry-catalog-read.ts';
import { waitFor } from '../../../wait-for.ts';

const call = [
  { type: 'call-start', call: 0, name: 'bash', nativeId: null },
  { type: 'call-end', call: 0, state: 'ok', arguments: {}, raw: '{}' },
  { type: 'finish', reason: 'tool-calls', raw: null },
] satisfies ChatEvent[];

const room = (models: Model[], execute?: () => Promise<ToolResult>) => makeRoom(models, execute === undefined ? {} : { execute });

/** For as long as the Catalog is retried. */
async function outwait({ clock, settle }: Pick<Awaited<ReturnType<typeof makeRoom>>, 'clock' | 'settle'>): Promise<void> {
  await settle();
  for (let failures = 0; failures < maxCatalogRetries; failures += 1) {
    await clock.advance(catalogRetryMs * 2 ** failures);
    await settle();
  }
}

describe("a session's turns", () => {
  it('run one after another, each to one end', async () => {
    const { accept, events, settle } = await room([
      () => reply({ type: 'text', text: 'one' }, finish),
      () => reply({ type: 'text', text: 'two' }, finish),
    ]);
    accept('t1');
    accept('t2');
    await settle();
    expect(ends(events())).toEqual(['t1 completed stop', 't2 completed stop']);
    expect(events().map(({ id }) => id)).toEqual(events().map((_, index) => index + 1));
  });

  it('use the workspace rules at the time of each call, not at the start of the turn', async () => {
    const rules: PolicyRule[] = [];
    const ran: string[] = [];
    const { accept, events, settle } = await makeRoom(
      [calls(['bash', { step: 1 }]), calls(['bash', { step: 2 }]), () => reply({ type: 'text', text: 'done' }, finish)],
      {
        rules,
        execute: async ({ step }) => {
          ran.push(`step ${String(step)}`);
          rules.push({ decision: 'deny', tool: 'builtin.bash', note: 'it ran away' });
          return textResult('ran');
        },
      },
    );
    accept('t1');
    await settle();
    expect(ran).toEqual(['step 1']);
    const results = events().flatMap((event) => (event.type === 'tool-result' ? [event.code ?? 'ran'] : []));
    expect(results).toEqual(['ran', 'not_allowed']);
  });

  it('end at once when cancelled, abort the provider, and let the next one run', async () => {
    const {
      room: { runner },
      accept,
      events,
      settle,
      aborted,
    } = await room([silence, () => reply({ type: 'text', text: 'two' }, finish)]);
    accept('t1');
    accept('t2');
    await settle();
    expect(runner.cancel()).toBe('t1');
    expect(ends(events())).toEqual(['t1 cancelled cancelled']);
    expect(aborted).toHaveLength(1);
    await settle();
    expect(ends(events())).toEqual(['t1 cancelled cancelled', 't2 completed stop']);
  });

  it('answer a call that was running when they were cancelled, and drop its later result', async () => {
    let release = (_result: ToolResult): void => undefined;
    const {
      room: { runner },
      accept,
      events,
      settle,
    } = await room([() => reply(...call)], () => new Promise((resolve) => (release = resolve)));
    accept('t1');
    await settle();
    runner.cancel();
    const atCancel = events().length;
    release(textResult('too late'));
    await settle();
    expect(events()).toHaveLength(atCancel);
    expect(events().slice(-2)).toMatchObject([
      { type: 'tool-result', code: 'aborted' },
      { type: 'turn-end', status: 'cancelled' },
    ]);
  });

  it('fail with a problem when they exceed their time limit', async () => {
    const { accept, events, settle, clock } = await room([silence]);
    accept('t1', { limits: { turnTimeoutMs: 5_000 } });
    await settle();
    await clock.advance(5_000);
    expect(events().slice(-2)).toMatchObject([
      { type: 'error', problem: { code: 'upstream_timeout' } },
      { type: 'turn-end', status: 'failed', reason: 'timeout' },
    ]);
  });

  it('fail with an error without internal details after an internal error, whose cause is logged', async () => {
    const broken: Model = () => {
      throw new TypeError('inner secret detail');
    };
    const { accept, events, settle, lines } = await room([broken]);
    accept('t1');
    await settle();
    expect(ends(events())).toEqual(['t1 failed internal']);
    expect(JSON.stringify(events())).not.toContain('inner secret detail');
    expect(JSON.stringify(lines)).toContain('inner secret detail');
  });

  it('wait for a Catalog that is briefly unavailable, at the start and when they resume', async () => {
    const self = await makeRoom([calls(['asks', {}]), () => reply(finish)]);
    self.brake.catalog = maxCatalogRetries;
    self.accept('t1');
    await outwait(self);
    expect(self.events().at(-1)).toMatchObject({ type: 'approval-required' });
    self.brake.catalog = maxCatalogRetries;
    const [asked] = self.room.waits.pendingApprovals();
    await decide(self.decisionContext(), asked?.callId ?? '', 'approve', { by: 'root', remember: false });
    await outwait(self);
    expect(ends(self.events())).toEqual(['t1 completed stop']);
  });

  it('fail when the Catalog stays unavailable, and can be cancelled while they wait for it', async () => {
    const self = await makeRoom([]);
    self.brake.catalog = Number.POSITIVE_INFINITY;
    self.accept('t1');
    await self.settle();
    self.room.runner.cancel();
    self.accept('t2');
    await outwait(self);
    expect(ends(self.events())).toEqual(['t1 cancelled cancelled', 't2 failed internal']);
    expect(self.asked.model).toBe(0);
  });

  it('send an audit row for every call with a result, including interrupted ones', async () => {
    const begun: ChatEvent[] = [{ type: 'call-start', call: 0, name: 'bash', nativeId: null }];
    const many = Array.from({ length: 8 }, (_, at): ChatEvent[] => [
      { type: 'call-start', call: at, name: 'bash', nativeId: null },
      { type: 'call-end', call: at, state: 'ok', arguments: { at }, raw: '' },
    ]);
    const {
      room: { runner },
      accept,
      events,
      settle,
      work,
      sent,
    } = await room(
      [
        async function* (signal) {
          yield begun;
          yield* silence(signal);
        },
        () => reply(...many.flat(), { type: 'finish', reason: 'tool-calls', raw: null }),
        () => reply(...begun, { type: 'error', problem: new Problem('upstream_error', 'cut').toBody(), retryable: false }),
      ],
      () => new Promise(() => undefined),
    );
    for (const turn of ['in mid-stream', 'in its calls', 'by the model']) {
      accept(turn);
      await settle();
      runner.cancel();
      await settle();
    }
    await Promise.all(work);
    const results = events().flatMap((event) => (event.type === 'tool-result' ? [event] : []));
    expect(results).toHaveLength(10);
    expect(sent.map(({ callId }) => callId).sort()).toEqual(results.map(({ callId }) => callId).sort());
    expect(sent.map(({ turn, verdict, code }) => `${turn}: ${verdict} ${code}`).sort()).toEqual(
      [
        'by the model: refused aborted',
        'in its calls: refused aborted',
        'in its calls: refused aborted',
        ...Array.from({ length: 6 }, () => 'in its calls: ran aborted'),
        'in mid-stream: refused aborted',
      ].sort(),
    );
  });

  it('start no further call after an internal error', async () => {
    let begun = 0;
    const calls = Array.from({ length: 12 }, (_, at): ChatEvent[] => [
      { type: 'call-start', call: at, name: 'bash', nativeId: null },
      { type: 'call-end', call: at, state: 'ok', arguments: { at }, raw: '' },
    ]);
    const wait: (() => void)[] = [];
    const { accept, events, settle, work, brake } = await room([() => reply(...calls.flat(), ...call.slice(2))], () => {
      begun += 1;
      return new Promise((resolve) => wait.push(() => resolve(textResult('ran'))));
    });
    accept('t1');
    await settle();
    brake.audit = true;
    wait[0]?.();
    await waitFor(() => expect(ends(events())).toEqual(['t1 failed internal']));
    brake.audit = false;
    for (const release of wait) release();
    await Promise.all(work);
    expect(begun).toBe(6);
  });

  it('end when the session is deleted, with all their results, and start no other', async () => {
    const {
      room: { runner },
      accept,
      events,
      work,
      settle,
    } = await room([silence]);
    accept('t1');
    accept('t2');
    await settle();
    await runner.stop();
    await Promise.all(work);
    expect(ends(events())).toEqual(['t1 cancelled cancelled']);
    expect(runner.active).toBe(false);
  });

  it('have one result for each call: a second one is not stored', async () => {
    const { room: opened, accept, events, settle } = await makeRoom([calls(['asks', {}])]);
    accept('t1');
    await settle();
    const callId = events().flatMap((event) => (event.type === 'approval-required' ? [event.callId] : []))[0] ?? '';
    const result = (text: string) =>
      ({
        type: 'tool-result',
        turn: 't1',
        step: 1,
        callId,
        name: 'asks',
        canonical: 'builtin.bash',
        via: 'wire',
        ...textResult(text),
      }) as const;
    opened.runner.applyExternal('t1', () => [result('first'), result('second')]);
    await settle();
    expect(events().flatMap((event) => (event.type === 'tool-result' ? [event.content] : []))).toEqual([textResult('first').content]);
    expect(ends(events())).toEqual(['t1 completed stop']);
  });

  it('do nothing when cancelled with none running', async () => {
    const {
      room: { runner },
      events,
    } = await room([]);
    expect(runner.cancel()).toBeNull();
    expect(events()).toEqual([]);
  });
});
