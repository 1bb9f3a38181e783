import './same-tick-digest.ts';
// What the object loads late would arrive at another time in each run.
import '../../src/core/model/cloud-key.ts';
import '../../src/core/toolset/proposals.ts';
import '../../src/core/toolset/entries/compile-targets.ts';
import '../../src/engine/call/call-in-order.ts';
import '../../src/engine/call/charge-call.ts';
import '../../src/engine/call/recorded-call.ts';
import '../../src/engine/call/stored-result.ts';
import '../../src/engine/configuration/edit-impact.ts';
import '../../src/engine/try-routes.ts';
import '../../src/engine/telemetry/observe-model.ts';
import '../../src/engine/turn/ask-budget.ts';
import '../../src/objects/session/log/recorded-turn.ts';
import '../../src/objects/session/pending/decide.ts';
import '../../src/objects/session/replay/call-replay.ts';
import '../../src/objects/session/turn/fork-session.ts';
import '../../src/providers/send-by-keys.ts';
import '../../src/providers/clouds/send-to-cloud.ts';
import '../../src/storage/stored-results.ts';
import { describe, expect, it, vi } from 'vitest';
import { migrate } from '../../src/objects/shared/migrate.ts';
import { sessionMigrations } from '../../src/objects/session/object/schema.ts';
import { objectCrashPoints } from './commands.ts';
import { createObjectMachine } from './object-session.ts';
import { processDeps } from './process-deps.ts';
import { allRuns, firstSeed, runMany, runTwice, unseen } from './report.ts';
import { runs } from '../selection.ts';
import type { Tier } from './machine.ts';
import { openDatabase } from './sql-disk.ts';

vi.mock('../../src/core/failpoint.ts', () => import('./crash-hook.ts'));
vi.mock('../../src/platform/clock.ts', () => import('./life-clock.ts'));
vi.mock('../../src/wiring/wire.ts', () => ({ wire: (wiring: unknown) => wiring }));
vi.mock('cloudflare:workers', () => ({
  DurableObject: class {
    readonly ctx: unknown;
    readonly env: unknown;
    constructor(ctx: unknown, env: unknown) {
      this.ctx = ctx;
      this.env = env;
    }
  },
}));

const database = openDatabase();
migrate(
  {
    sql: {
      exec: (query: string, ...bindings: (string | number)[]) => {
        if (bindings.length === 0 && !/^select/i.test(query)) database.exec(query);
        const rows = bindings.length > 0 || /^select/i.test(query) ? database.prepare(query).all(...bindings) : [];
        return { toArray: () => rows, one: () => rows[0] };
      },
    },
    transactionSync: (work: () => void) => work(),
    // The methods that a migration uses.
  } as unknown as DurableObjectStorage,
  sessionMigrations,
);

const object: Tier = {
  whole: true,
  crashPoints: objectCrashPoints,
  make(world, upstream) {
    const machine = createObjectMachine(world, database, (life) => processDeps(world, life, upstream, () => machine.flush()));
    return machine;
  },
};

describe('the session object', () => {
  it('gives the same run twice with the same seed', async () => {
    for (let seed = firstSeed; seed < firstSeed + runs(20); seed += 1) {
      const [first, second] = await runTwice(object, seed);
      expect(second).toEqual(first);
    }
  });

  it('holds its invariants in every random run', { timeout: 3_600_000 }, async () => {
    const report = await runMany('session', object, Math.ceil(allRuns * 0.2));
    expect(report.violation).toBeNull();
    if (report.runs >= 2_000) expect(unseen(report, object)).toEqual([]);
  });
});
