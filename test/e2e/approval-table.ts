/** What holds of an approval in every protocol of clients (`approval-surfaces.ts`), as tests of each. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { endedTurn } from './eventually.ts';
import { fieldsOf, readLog } from './session-log.ts';
import type { SharedService } from './shared-service.ts';
import { type Choice, clientCall, placeOf, type Question, type Surface } from './approval-surfaces.ts';

/** Each execution adds a line to a file of the session. */
export const input = '/shell echo it ran >> ran.txt; echo it ran';
export const approvalPath = (question: Question): string => {
  const { session, callId } = placeOf(question);
  return `/v1/sessions/${session}/approvals/${callId}`;
};
export const decideByRest = async (service: SharedService, question: Question, decision: Choice) =>
  (await service.call('POST', approvalPath(question), { decision })).status;

export function describeApprovals(service: SharedService, surfaces: readonly (readonly [string, Surface])[]): void {
  beforeAll(async () => {
    await service.call('PUT', '/v1/toolsets/guarded', { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
  });

  async function executions(question: Question): Promise<number> {
    const { session, callId } = placeOf(question);
    if (callId !== clientCall) await endedTurn(service, session);
    const { status, text } = await service.call('GET', `/v1/sessions/${session}/files/ran.txt`);
    return status === 404 ? 0 : text.split('\n').filter((line) => line !== '').length;
  }

  describe.each(surfaces)('an approval in %s', (_name, surface) => {
    it('shows the arguments, and runs the call once when it is approved', async () => {
      const question = await surface.ask(input);
      expect(question.arguments).toMatchObject({ command: input.slice('/shell '.length) });
      expect(await surface.decide(question, 'approve')).toContain('it ran');
      expect(await executions(question)).toBe(1);
      const { status, json } = await service.call('GET', approvalPath(question));
      expect([status, json.state]).toEqual(surface.atClient ? [404, undefined] : [200, 'approved']);
    });

    it('does not run the call when it is denied, and the model is told', async () => {
      const question = await surface.ask(input);
      expect(await surface.decide(question, 'deny')).toMatch(/user denied (?:the|this) call/);
      expect(await executions(question)).toBe(0);
    });

    it.runIf(surface.sendsNoReason === undefined)(
      'sends the reason of a denial to the model, the event, the approval and the audit',
      async () => {
        const question = await surface.ask(input);
        const reason = 'It must run in "staging" first';
        expect(await surface.decide(question, 'deny', reason)).toContain(JSON.stringify(reason));
        if (surface.atClient) return;
        expect((await service.call('GET', approvalPath(question))).json).toMatchObject({ state: 'denied', decisionReason: reason });
        const { session, callId } = placeOf(question);
        expect(fieldsOf(await readLog(service, session), 'approval-decided', 'reason')).toEqual([reason]);
        const { json } = await service.call('GET', `/v1/audit?session=${session}&verdict=denied`);
        expect(json.items).toMatchObject([{ callId, reason }]);
      },
    );

    it.runIf(surface.decidesOnce === undefined)('runs the call once when the decision is sent again, and gets the same text', async () => {
      const question = await surface.ask(input);
      const first = await surface.decide(question, 'approve');
      expect(await surface.decide(question, 'approve')).toBe(first);
      expect(await executions(question)).toBe(1);
    });

    it.runIf(surface.atClient && surface.decidesOnce)('runs the call once when the decision is sent again, which is refused', async () => {
      const question = await surface.ask(input);
      const both = await Promise.allSettled([surface.decide(question, 'approve'), surface.decide(question, 'approve')]);
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      await expect(surface.decide(question, 'deny')).rejects.toThrow();
      expect(await executions(question)).toBe(1);
    });

    it.skipIf(surface.endsAtRestart)('runs the call once when the service was killed before the decision', async () => {
      const question = await surface.ask(input);
      await service.restart();
      expect(await surface.decide(question, 'approve')).toContain('it ran');
      expect(await executions(question)).toBe(1);
    });

    it.skipIf(surface.atClient)('runs the call once when another way to decide approves at the same time', async () => {
      const question = await surface.ask(input);
      const [text] = await Promise.all([surface.decide(question, 'approve'), decideByRest(service, question, 'approve')]);
      expect(text).toContain('it ran');
      expect(await executions(question)).toBe(1);
    });

    it.skipIf(surface.atClient)('is told that the approval has expired, and nothing runs', async () => {
      const question = await surface.ask(input);
      await service.restart((dataDir) => expire(dataDir, placeOf(question).callId));
      // The alarm that denies the call comes a week later; a decision before it has no effect either.
      await expect(surface.decide(question, 'approve')).rejects.toThrow('expired');
      expect((await service.call('GET', `/v1/sessions/${placeOf(question).session}/files/ran.txt`)).status).toBe(404);
      expect((await service.call('GET', `/v1/sessions/${placeOf(question).session}`)).json.turn.status).toBe('waiting');
    });

    it.skipIf(surface.atClient)('is told that the call was decided otherwise, and nothing runs', async () => {
      const question = await surface.ask(input);
      expect(await decideByRest(service, question, 'deny')).toBe(200);
      await expect(surface.decide(question, 'approve')).rejects.toThrow(/(?:was already|is) denied/);
      expect(await executions(question)).toBe(0);
    });
  });
}

/** As if the time of an approval had passed while the service was stopped. */
function expire(dataDir: string, callId: string): void {
  let expired = 0;
  for (const file of readdirSync(join(dataDir, 'state'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.sqlite'),
  )) {
    const database = new DatabaseSync(join(dataDir, 'state', file));
    if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'waits'").get() !== undefined) {
      expired += Number(database.prepare('UPDATE waits SET expires_at = 1 WHERE call_id = ?').run(callId).changes);
    }
    database.close();
  }
  expect(expired).toBe(1);
}
