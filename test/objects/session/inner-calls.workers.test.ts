import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import { originOf, type Principal } from '../../../src/core/people/principal.ts';
import { contentText, textResult } from '../../../src/core/tools/tool.ts';
import { WaitStore } from '../../../src/objects/session/pending/wait-store.ts';
import { CallJournals } from '../../../src/objects/session/log/call-journal.ts';
import { sessionMigrations } from '../../../src/objects/session/object/schema.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { createAuditKey } from '../../../src/objects/shared/audit-chain.ts';
import { createRootProof } from '../../../src/storage/keys/root-proof.ts';
import { migrate } from '../../../src/objects/shared/migrate.ts';
import { wire } from '../../../src/wiring/wire.ts';
import { waitFor } from '../../wait-for.ts';
import { sessionSql } from './session-sql.ts';

// The generated Env and our structural type name the same bindings.
const bindings = env as unknown as Bindings;
const { sessions, catalog, planTurn, settings } = wire(bindings);
const owner: Principal = { workspace: 'default', keyId: 'k1', scopes: ['chat', 'tools', 'approve', 'admin'] };
const root: Principal = { workspace: 'default', keyId: 'root', scopes: ['admin'] };
const rootProof = createRootProof(createAuditKey(settings), settings);
let plan: Plan;

/** Writes a line without approval, then one that requires approval, then one without again. */
const implementation = `const said = [];
for (const name of ['shell', 'asks', 'shell']) {
  const answer = await tools[name]({ command: 'echo ' + name + ' >> /workspace/effects.txt' });
  said.push(answer.success ? name : answer.code);
}
return said.join(' ');`;

beforeAll(async () => {
  const made = { description: 'Writes lines.', parameters: [], implementation, uses: ['builtin.bash'] };
  await catalog('default').put('made-tool', 'made.lines', made);
  await catalog('default').put('toolset', 'beneath', {
    tools: [
      { tool: 'builtin.bash', name: 'asks', aliases: [], approval: 'always' },
      { tool: 'builtin.bash', name: 'shell', aliases: [] },
      { tool: 'made.lines', name: 'lines' },
    ],
  });
  plan = await planTurn(owner, { model: 'rehearsal/default', toolset: 'beneath' });
});

const stubOf = (id: string) => bindings.SESSION.get(bindings.SESSION.idFromString(id));

async function make() {
  const { id } = await sessions.create(owner, { model: 'rehearsal/default', toolset: 'beneath', listed: false });
  const effects = async (): Promise<string> => {
    const file = await sessions.get(id).readFile(owner, 'effects.txt');
    return 'content' in file ? new TextDecoder().decode(file.content).trim().replaceAll('\n', ' ') : '';
  };
  const waits = (): Promise<string> =>
    waitFor(async () => {
      const [approval] = await sessions.get(id).approvals(owner);
      if (approval === undefined) throw new Error('nothing waits yet');
      return approval.callId;
    });
  const over = (): Promise<void> =>
    waitFor(async () => {
      const { turn } = await sessions.get(id).view(owner);
      if (turn?.status !== 'completed') throw new Error(`it is ${turn?.status}`);
    });
  const kill = (): Promise<unknown> => runInDurableObject(stubOf(id), (_, state) => state.abort('the process dies')).catch(() => undefined);
  return {
    id,
    effects,
    waits,
    over,
    kill,
    say: (text: string) => sessions.get(id).submit(owner, { plan, input: [{ type: 'text', text }] }),
  };
}

describe('a made tool in a session', () => {
  it.each(['lives on', 'dies'])(
    'waits for an approval within its code and resumes where it was; its process %s in the meantime',
    async (how) => {
      const self = await make();
      await self.say('/lines {}');
      const callId = await self.waits();
      expect(callId).toMatch(/^call_[^.]+\.2$/);
      expect(await self.effects()).toBe('shell');
      if (how === 'dies') await self.kill();
      await sessions.get(self.id).decide(owner, callId, 'approve', { remember: false });
      await self.over();
      expect(await self.effects()).toBe('shell asks shell');
      const { items } = await sessions.get(self.id).messages(owner);
      expect(JSON.stringify(items)).toContain('shell asks shell');
    },
  );

  it('can be decided by a link, which shows the inner call', async () => {
    const self = await make();
    await self.say('/lines {}');
    const callId = await self.waits();
    const { nonce } = await sessions.get(self.id).mintLink(root, callId);
    const link = { nonce, origin: originOf({ ...root, rootProof: await rootProof.current() }, Date.now()) };
    const shown = await sessions.get(self.id).linkedApproval(link);
    expect(shown).toMatchObject({ callId, canonical: 'builtin.bash', arguments: { command: 'echo asks >> /workspace/effects.txt' } });
    await sessions.get(self.id).decideByLink(link, 'deny');
    await self.over();
    expect(await self.effects()).toBe('shell shell');
  });

  it('waits and resumes in a direct call too', async () => {
    const self = await make();
    const call = () => sessions.get(self.id).call(owner, { plan, name: 'lines', arguments: {} });
    const first = await call();
    expect(first.result.code).toBe('approval_required');
    const [waits] = first.pending ?? [];
    await self.kill();
    await sessions.get(self.id).decide(owner, waits?.callId ?? '', 'approve', { remember: false });
    expect(contentText((await call()).result.content)).toBe('shell asks shell');
    expect(await self.effects()).toBe('shell asks shell');
  });
});

describe("the journal in a session's tables", () => {
  it('holds results larger than a value of its storage, up to its limit, and deletes them with the root', async () => {
    const { id } = await make();
    await runInDurableObject(stubOf(id), async (_instance, { storage }) => {
      migrate(storage, sessionMigrations);
      const sql = sessionSql(storage);
      const now = (): number => 5;
      const waits = new WaitStore(sql, now);
      const journal = new CallJournals(sql, now, waits).open(null);
      const start = (place: number) => ({
        ...{ callId: `call_a.${place}`, root: 'call_a', requested: 'x', canonical: 'local.x', via: null, arguments: {} },
        fingerprint: `f${place}`,
      });
      const large = textResult('ü'.repeat(limits.maxInnerResultBytes / 2 - 100));
      const most = Math.floor(limits.maxJournalBytes / limits.maxInnerResultBytes);
      for (let place = 1; place <= most; place += 1) {
        journal.begin(start(place));
        expect(journal.finish(start(place), large, { durationMs: 1, keep: true })).toBe(place);
      }
      // As another object of the same session reads them.
      const again = new CallJournals(sql, now, waits);
      expect(again.open(null).find('call_a.1')).toEqual({
        ...{ callId: 'call_a.1', canonical: 'local.x', fingerprint: 'f1', attempts: 1, told: 1, order: 1 },
        result: large,
      });
      expect(again.open(null).finish(start(most + 1), large, { durationMs: 1, keep: true })).toBeNull();
      again.drop('call_a');
      expect(sql.exec('SELECT count(*) AS parts FROM journal_results').one()).toEqual({ parts: 0 });
      expect(again.has('call_a')).toBe(false);
    });
  });
});
