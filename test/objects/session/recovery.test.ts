import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { textResult, type ToolResult } from '../../../src/core/tools/tool.ts';
import { calls, ends, finish, makeRoom, reply, silence, types, type Execute } from './runner-session.ts';
import { maxRecoveriesWithoutProgress } from '../../../src/core/turn/turn.ts';

const said = (text: string): ChatEvent => ({ type: 'text', text });

/** Never returns the first `times`, as when the process dies in it; then returns. */
function hangs(times: number) {
  const keys: string[] = [];
  const execute: Execute = (_args, { idempotencyKey }, canonical) => {
    keys.push(`${canonical} ${idempotencyKey}`);
    return keys.length <= times ? new Promise<ToolResult>(() => undefined) : Promise.resolve(textResult('ran'));
  };
  return { keys, execute };
}

describe('a turn whose process died', () => {
  it('repeats an interrupted model request, drops the text of the first one, and ends once', async () => {
    const room = await makeRoom([
      async function* (signal) {
        yield [said('half')];
        yield* silence(signal);
      },
      () => reply(said('whole'), finish),
    ]);
    room.accept('t1');
    await room.settle();
    await room.restart();
    expect(types(room.events())).toEqual([
      ...['turn-start', 'step-start', 'text-delta', 'turn-resume', 'step-restart', 'text-delta', 'step-end', 'turn-end'],
    ]);
    const [start, restart] = ['step-start', 'step-restart'].map((type) => room.events().find((event) => event.type === type));
    expect(restart).toMatchObject({ from: (start?.id ?? 0) + 1 });
    expect(room.room.transcript.messages().at(-1)).toMatchObject({ parts: [{ text: 'whole' }] });
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('runs a safe call again under the same key, and reports an unknown outcome for an unsafe one', async () => {
    const { keys, execute } = hangs(2);
    const room = await makeRoom([calls(['read', { path: 'a' }], ['bash', { command: 'x' }]), () => reply(finish)], { execute });
    room.accept('t1');
    await room.settle();
    await room.restart();
    const results = room.events().flatMap((event) => (event.type === 'tool-result' ? [`${event.canonical} ${event.code ?? 'ok'}`] : []));
    // In the order in which they came.
    expect(results.toSorted()).toEqual(['builtin.bash outcome_unknown', 'builtin.read ok']);
    expect(keys.filter((key) => key.startsWith('builtin.bash'))).toHaveLength(1);
    expect(new Set(keys.filter((key) => key.startsWith('builtin.read'))).size).toBe(1);
    expect(keys.filter((key) => key.startsWith('builtin.read'))).toHaveLength(2);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('takes finished calls from the log: only the missing one runs', async () => {
    const ran: unknown[] = [];
    const room = await makeRoom([calls(['read', { n: 1 }], ['read', { n: 2 }], ['read', { n: 3 }]), () => reply(finish)], {
      execute: ({ n }) => {
        ran.push(n);
        return n === 3 && ran.length <= 3 ? new Promise(() => undefined) : Promise.resolve(textResult(`${n}`));
      },
    });
    room.accept('t1');
    await room.settle();
    await room.restart();
    expect(ran).toEqual([1, 2, 3, 3]);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('drops the writes of the older run', async () => {
    let release = (_result: ToolResult): void => undefined;
    const room = await makeRoom([calls(['read', {}]), () => reply(finish)], {
      execute: () => new Promise((resolve) => (release = resolve)),
    });
    room.accept('t1');
    await room.settle();
    const stale = release;
    await room.restart();
    const before = room.events();
    stale(textResult('from the dead'));
    await room.settle();
    // The old run has another log object, so anything that it wrote would be in the table.
    expect(room.sql.exec('SELECT sum(count) AS events FROM events').one()).toEqual({ events: before.length });
    release(textResult('again'));
    await room.settle();
    expect(room.events().filter(({ type }) => type === 'tool-result')).toHaveLength(1);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('is ended with a reason when it dies repeatedly without progress', async () => {
    const room = await makeRoom(Array.from({ length: 20 }, () => silence));
    room.accept('t1');
    await room.settle();
    for (let death = 0; death < 20; death += 1) await room.restart();
    expect(ends(room.events())).toEqual(['t1 failed recovery_limit']);
    expect(room.asked.model).toBe(maxRecoveriesWithoutProgress + 1);
    expect(room.events().filter(({ type }) => type === 'turn-resume')).toHaveLength(maxRecoveriesWithoutProgress + 1);
  });

  it('keeps its time limit: work before the crash counts, and time without a run does not', async () => {
    const room = await makeRoom([silence, silence]);
    room.accept('t1', { limits: { turnTimeoutMs: 60_000 } });
    await room.settle();
    await room.clock.advance(40_000);
    await room.ring();
    room.die();
    // It has no run for a day.
    await room.clock.advance(24 * 60 * 60_000);
    await room.restart();
    expect(ends(room.events())).toEqual([]);
    await room.clock.advance(19_000);
    expect(ends(room.events())).toEqual([]);
    await room.clock.advance(1_000);
    expect(ends(room.events())).toEqual(['t1 failed timeout']);
  });

  it('waits, without an interruption, when it had asked before it died', async () => {
    const room = await makeRoom([calls(['asks', {}])]);
    room.accept('t1');
    await room.settle();
    const before = room.events();
    for (let death = 0; death < 10; death += 1) {
      // The question is in the log; the table does not have the wait yet.
      room.sql.exec(`UPDATE turns SET state = 'running', reason = NULL`);
      await room.restart();
    }
    expect(room.events()).toEqual(before);
    expect(room.room.turns.current()).toMatchObject({ state: 'waiting', reason: 'approval_required' });
    expect(room.room.runner.active).toBe(false);
  });

  it('keeps the order of the queue', async () => {
    const room = await makeRoom([silence]);
    for (const id of ['t1', 't2', 't3']) room.accept(id);
    await room.settle();
    await room.restart();
    expect(ends(room.events())).toEqual(['t1 completed stop', 't2 completed stop', 't3 completed stop']);
  });

  it('stays cancelled', async () => {
    const { execute } = hangs(1);
    const room = await makeRoom([calls(['bash', {}])], { execute });
    room.accept('t1');
    await room.settle();
    room.room.runner.cancel();
    const before = room.events();
    await room.restart();
    expect(room.events()).toEqual(before);
    expect(ends(before)).toEqual(['t1 cancelled cancelled']);
  });
});

describe('the alarm', () => {
  it('is at most one interval ahead while a turn runs, and deleted when none does', async () => {
    const room = await makeRoom([silence]);
    room.accept('t1');
    await room.settle();
    expect(room.alarm.at).toBe(room.clock.now() + limits.turnAlarmMs);
    await room.clock.advance(limits.turnAlarmMs);
    await room.ring();
    expect(room.alarm.at).toBe(room.clock.now() + limits.turnAlarmMs);
    room.room.runner.cancel();
    await room.settle();
    expect(room.room.timers.due(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  it('starts a turn that was accepted and never started', async () => {
    const room = await makeRoom([]);
    room.room.turns.accept('t1', { model: 'a/b', fallbacks: [], instructions: '', allow: null, aliases: true, limits: {}, settings: {} }, [
      { type: 'text', text: 'x' },
    ]);
    room.room.timers.set('turn', room.clock.now());
    await room.ring();
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('does its work once when it fires twice', async () => {
    const { keys, execute } = hangs(1);
    const room = await makeRoom([calls(['bash', {}])], { execute });
    room.accept('t1');
    await room.settle();
    await room.clock.advance(limits.turnAlarmMs);
    await Promise.all([room.ring(), room.ring()]);
    expect(keys).toHaveLength(1);
    expect(types(room.events()).filter((type) => type === 'turn-start')).toHaveLength(1);
  });

  it('is set again before anything else is done', async () => {
    const room = await makeRoom([silence]);
    room.accept('t1');
    await room.settle();
    await room.clock.advance(limits.turnAlarmMs);
    room.alarm.at = null;
    room.room.runner.recordTimeSpent = () => {
      expect(room.alarm.at).not.toBeNull();
      throw new Error('broken');
    };
    await room.ring();
    expect(room.lines.some(({ message }) => message === 'a timer job failed')).toBe(true);
    expect(room.alarm.at).toBe(room.clock.now() + limits.turnAlarmMs);
  });

  it('is retried however often its work fails, and then the turn resumes', async () => {
    const room = await makeRoom([silence, () => reply(finish)]);
    room.accept('t1');
    await room.settle();
    room.die();
    const { runner } = room.room;
    const recover = runner.recover.bind(runner);
    let failures = 0;
    runner.recover = () => {
      failures += 1;
      if (failures <= 10) throw new Error('broken');
      recover();
    };
    // One of the alarms only sends the update of the lists.
    for (let ringing = 0; ringing < 12 && failures < 11; ringing += 1) {
      expect(ends(room.events())).toEqual([]);
      const { at } = room.alarm;
      expect(at).not.toBeNull();
      await room.clock.advance(Math.max(0, (at ?? 0) - room.clock.now()));
      room.alarm.at = null;
      await room.ring();
    }
    expect(failures).toBe(11);
    expect(ends(room.events())).toEqual(['t1 completed stop']);
  });

  it('deletes no session while a turn runs or a question is open', async () => {
    const room = await makeRoom([calls(['asks', {}])]);
    room.accept('t1');
    await room.settle();
    room.room.timers.set('expire', room.clock.now());
    await room.ring();
    expect(room.left).toBe(0);
    room.room.runner.cancel();
    await room.clock.advance(limits.turnTimeoutMs);
    await room.ring();
    expect(room.left).toBe(1);
  });
});
