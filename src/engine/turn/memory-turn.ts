/**
 * Runs one turn in memory, within a request or as a case of a replay. It ends by itself, by its time limit, when its reader leaves, or where it
 * waits for something from outside.
 */
import { limits } from '../../core/limits/limits.ts';
import { MB } from '../../core/limits/units.ts';
import type { InputPart, Message } from '../../core/model/message.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { TaintMarks } from '../../core/policy/taint.ts';
import { Problem } from '../../core/problem.ts';
import type { Skill } from '../../core/skills/skill.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { applyEvent } from '../../core/turn/fold-turn.ts';
import { createGathering, type Gathered } from '../../core/turn/gathered-tools.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { SessionEvent, SessionEventBody, TurnEndReason, TurnStatus } from '../../core/turn/session-event.ts';
import { createTranscript } from '../../core/turn/transcript.ts';
import { beginTurn, isWaiting } from '../../core/turn/turn-state.ts';
import { createAuditTrail } from '../call/audit-call.ts';
import type { CallScope } from '../call/call-scope.ts';
import type { Place } from '../fair-pool.ts';
import { runTurn, type TurnDeps } from './run-turn.ts';
import { closingEvents, problemOfTurn, turnTookTooLong } from './turn-end.ts';
import { auditUnaudited, toUnauditedResult, type UnauditedResult } from './turn-audit.ts';
import { createTurnScope, keepHiddenMedia, type ScopedRun, type TurnScopeParts } from './turn-scope.ts';
import type { AuditPort } from '../../ports/audit.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ResultStore } from '../../ports/result-store.ts';

export type MemoryTurnNeeds = {
  clock: Clock;
  log: Logger;
  turnDeps(workspace: string): TurnDeps;
  namesFor(workspace: string, plan: Plan, keyId: string): Promise<AliasMap | null>;
  rules(workspace: string): Promise<CallScope['rules']>;
  skillsFor(workspace: string, plan: Plan): Promise<readonly Skill[]>;
  audit(workspace: string): Pick<AuditPort, 'append'>;
};

/** What a turn in memory stores. `filesWith`: its files with those of its skills. */
export type TurnStorage = { results: ResultStore; filesWith(skills: readonly Skill[]): FileSystem };

/** The reader of the turn's events. */
export type TurnReader = {
  take(event: SessionEvent): void;
  /** Whether the reader needs no more: then the turn is ended. */
  isOver(): boolean;
  /** Characters that the reader has not passed on. */
  unread(): number;
};

/**
 * `history`: the conversation before the input; `gathered`: the tools gathered there. `place`: held while the turn runs. `recorded`: as in
 * `CallScope`.
 */
export type GivenTurn = {
  principal: Principal;
  turn: string;
  plan: Plan;
  history: Message[];
  gathered?: readonly Gathered[];
  input: InputPart[];
  taint: TaintMarks;
  place: Place;
  storage: TurnStorage;
  recorded?: CallScope['recorded'];
};

/** `done`: resolves when nothing of the turn runs any more and its audit is written. `leave`: ends it, since its reader needs no more. */
export type MemoryTurn = { done: Promise<void>; leave(): void };

/** Of an answer that its client does not read: the turn is ended. */
const maxUnreadCharacters = 16 * MB;

/** Starts the turn. It never fails: what happens to it is in its events. */
export function startMemoryTurn(needs: MemoryTurnNeeds, given: GivenTurn, reader: TurnReader): MemoryTurn {
  const { clock, log } = needs;
  const { turn, plan, place } = given;
  const run: ScopedRun = { turn, plan, state: beginTurn(turn), audited: new Set(), abort: new AbortController(), sealed: false };
  const unaudited: UnauditedResult[] = [];
  const parts = partsOf(needs, given);
  let newest = 0;
  let isEnding = false;
  let status: TurnStatus | 'waiting' = 'waiting';

  const append = (...events: readonly SessionEventBody[]): void => {
    for (const event of events) {
      if (run.sealed) return;
      newest += 1;
      if (event.type === 'tool-result' && !run.audited.has(event.callId)) unaudited.push(toUnauditedResult(run, event));
      if (event.type === 'step-start') place.renew();
      applyEvent(run.state, { ...event, id: newest });
      parts.transcript.apply(event);
      if (event.type === 'turn-end') {
        run.sealed = true;
        status = event.status;
      }
      reader.take({ ...event, id: newest, at: clock.now() } satisfies SessionEvent);
    }
    // A stream cannot withdraw the events of a step that is repeated. After an error the turn ends by itself.
    if (reader.isOver() && !isWaiting(run.state) && !run.state.failed) end('cancelled', 'cancelled');
    else if (reader.unread() > maxUnreadCharacters) end('failed', 'internal', new Problem('rate_limited', tooSlow));
  };
  const end = (status: TurnStatus, reason: TurnEndReason, problem?: Problem): void => {
    if (run.sealed || isEnding) return;
    isEnding = true;
    if (problem !== undefined) append({ type: 'error', turn, problem: problem.toBody() });
    append(...closingEvents(run.state, status, reason));
    run.abort.abort(new Error(`the turn was ended: ${reason}`));
  };

  const drive = async (): Promise<void> => {
    const timeoutMs = plan.limits.turnTimeoutMs ?? limits.turnTimeoutMs;
    const disarm = clock.after(timeoutMs, () => end('failed', 'timeout', turnTookTooLong(timeoutMs, run.state, run.plan.model)));
    const { model, agent, edition } = plan;
    try {
      append({ type: 'turn-start', turn, input: given.input, model, ...(agent && { agent }), ...(edition && { edition }) });
      const scope = await createTurnScope(parts, run, {
        append,
        newest: () => newest,
        // Where no one is asked, no call waits for input.
        inputs: { store: () => undefined, given: () => null },
        call: { begin: parts.begin, ...(given.recorded !== undefined && { recorded: given.recorded }) },
      });
      await runTurn(parts.deps, scope, run.abort.signal);
    } catch (error) {
      if (!run.abort.signal.aborted) {
        log.error('a turn failed', { turn, error: String(error), stack: error instanceof Error ? error.stack : undefined });
        end('failed', 'internal', problemOfTurn(error));
      }
    } finally {
      disarm();
      // After a failure other calls of the turn may still be running.
      run.abort.abort(new Error('the turn has ended'));
      run.sealed = true;
      place.release();
    }
    await auditUnaudited(parts, run, unaudited);
    const { state } = run;
    const use = { model, ...(agent && { agent }), steps: state.step, calls: state.callsSoFar, usage: state.usage };
    log.info('turn ended', { turn, keyId: parts.keyId, status, ...use });
  };
  return { done: drive(), leave: () => end('cancelled', 'cancelled') };
}

const tooSlow = 'The answer is not read as fast as it is written, so the turn was ended. Read the stream to its end.';

function partsOf(needs: MemoryTurnNeeds, { principal: { workspace, keyId }, history, gathered = [], taint, storage }: GivenTurn) {
  const { log } = needs;
  const { results, filesWith } = storage;
  const conversation = createTranscript({ store: keepHiddenMedia(results) });
  const gathering = createGathering();
  const transcript: TurnScopeParts['transcript'] = {
    ...conversation,
    apply(event) {
      gathering.apply(event);
      conversation.apply(event);
    },
    gathered: () => gathering.list(),
  };
  if (history.length > 0) transcript.apply({ type: 'history', messages: history, ...(gathered.length > 0 && { gathered }) });
  const trail = createAuditTrail((rows) => needs.audit(workspace).append(rows), log);
  return {
    ...{ deps: needs.turnDeps(workspace), workspace, keyId, session: null, transcript, results, taint },
    begin: trail.begin,
    // There is no log that a later run could complete the audit from: each row is written before the model gets the result.
    audit: async (row: Parameters<CallScope['audit']>[0]) => {
      await trail.audit(row);
      await trail.written();
    },
    flushAudit: trail.written,
    namesFor: (plan: Plan) => needs.namesFor(workspace, plan, keyId),
    rules: () => needs.rules(workspace),
    skillsFor: (plan: Plan) => needs.skillsFor(workspace, plan),
    filesWith,
  };
}
