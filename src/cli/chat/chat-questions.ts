/** Questions in the terminal: approvals, and the forms of MCP servers (elicitation). */
import type { ApprovalRequired, InputRequired, components } from '../../../client/src/index.ts';
import { isRecord, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { rulesToRemember } from '../../core/policy/approval-ways.ts';
import { showInvisible, visibleJson } from '../../core/text/visible-text.ts';
import { inLine, styled } from '../output.ts';

/** Asks and returns the line. Null: Ctrl-C, Ctrl-D, or the turn was cancelled. */
export type Ask = (question: string) => Promise<string | null>;
/** What a person must see of an approval. */
type Question = Pick<ApprovalRequired, 'name' | 'canonical' | 'arguments' | 'reason'> &
  Partial<Pick<ApprovalRequired, 'effects' | 'effectCount' | 'round' | 'ask' | 'target' | 'several'>> & { canRemember?: true | undefined };
export type Decided = { decision: 'approve' | 'deny'; reason?: string; remember?: 'session' };
type Answer = components['schemas']['ElicitationAnswer'];

const maxShownEffects = 30;
const maxArgumentsLength = 4_000;

/** Any answer other than yes, or `s` where it is offered, denies the call. Text behind `n` is the reason, which the model reads. */
export async function askApproval(ask: Ask, print: (line: string) => void, request: Question): Promise<Decided> {
  return (await askDecision(ask, print, request)) ?? { decision: 'deny' };
}

/** The same; null if there is no answer. */
export async function askDecision(ask: Ask, print: (line: string) => void, request: Question): Promise<Decided | null> {
  for (const line of describeApproval(request)) print(line);
  const canRemember = isMemorable(request);
  const answer = await ask(
    canRemember ? '  Approve? [y/N, s: for the rest of this session, or n and why] ' : '  Approve? [y/N, or n and why] ',
  );
  if (answer === null) return null;
  if (canRemember && /^s(ession)?$/i.test(answer.trim())) return { decision: 'approve', remember: 'session' };
  if (isYes(answer)) return { decision: 'approve' };
  const [, reason] = /^no?[\s,:]+(.+)$/is.exec(answer.trim()) ?? [];
  return { decision: 'deny', ...(reason !== undefined && { reason }) };
}

/** An approval that is read says so; an event has what decides it. */
function isMemorable({ canonical, canRemember, ask: kind, target = null, effects = [], effectCount = 0, several }: Question): boolean {
  if (kind === undefined) return canRemember === true;
  return 'rules' in rulesToRemember(canonical, { kind, target, effects, effectCount, several });
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

/** Hidden characters are shown, so that a target is what it looks like. */
export function describeApproval({ name, canonical, arguments: args, reason, effects = [], effectCount, round }: Question): string[] {
  const shown = effects.slice(0, maxShownEffects);
  const more = (effectCount ?? effects.length) - shown.length;
  const json = visibleJson(args);
  return [
    styled(
      'yellow',
      inLine(
        showInvisible(
          `  ${name === canonical ? name : `${name} (${canonical})`} requires approval${(round ?? 1) > 1 ? `, round ${round}` : ''}`,
        ),
      ),
    ),
    showInvisible(`  ${reason.replaceAll('\n', '\n  ')}`),
    `  arguments: ${json.length > maxArgumentsLength ? `${json.slice(0, maxArgumentsLength)}… (${json.length} characters; the console shows all)` : json}`,
    ...shown.map(({ action, method, target }) => inLine(showInvisible(`  - ${[action, method, target].filter(Boolean).join(' ')}`))),
    ...(more > 0 ? [`  - and ${more} more; the console shows all`] : []),
  ];
}

/** Answers each request of a server. Ctrl-C and Ctrl-D cancel the rest. */
export async function askInput(
  ask: Ask,
  print: (line: string) => void,
  { requests, server }: InputRequired,
): Promise<Record<string, Answer>> {
  const answers: [string, Answer][] = [];
  for (const [key, { params }] of Object.entries(requests)) {
    print(styled('yellow', `  ${inLine(server)} asks: ${stringOf(params.message).replaceAll('\n', '\n  ')}`));
    if (typeof params.url === 'string') print(inLine(showInvisible(`  Open ${params.url}`)));
    const answer = typeof params.url === 'string' ? await askDone(ask) : await askForm(ask, params.requestedSchema);
    answers.push([key, answer]);
  }
  return Object.fromEntries(answers);
}

async function askDone(ask: Ask): Promise<Answer> {
  const answer = await ask('  Done? [y/N] ');
  return { action: answer === null ? 'cancel' : isYes(answer) ? 'accept' : 'decline' };
}

/** One question for each field. The service checks the values. */
async function askForm(ask: Ask, schema: unknown): Promise<Answer> {
  const { properties, required } = recordOf(schema);
  const content: [string, unknown][] = [];
  for (const [name, field] of Object.entries(recordOf(properties))) {
    const definition = recordOf(field);
    const choices = listOf(definition.enum).join(', ');
    const label = stringOf(definition.title) || name;
    const type = choices || stringOf(definition.type) || 'text';
    const isRequired = listOf(required).includes(name);
    const answer = await ask(inLine(`  ${label} (${type}${isRequired ? '' : ', optional'}): `));
    if (answer === null) return { action: 'cancel' };
    if (answer.trim() !== '' || isRequired) content.push([name, toValue(answer, definition)]);
  }
  const answer = await ask('  Send? [Y/n] ');
  if (answer === null) return { action: 'cancel' };
  return /^n(o)?$/i.test(answer.trim()) ? { action: 'decline' } : { action: 'accept', content: Object.fromEntries(content) };
}

function toValue(text: string, definition: Record<string, unknown>): unknown {
  const trimmed = text.trim();
  if (definition.type === 'boolean') return /^(y(es)?|true|1)$/i.test(trimmed);
  if ((definition.type === 'number' || definition.type === 'integer') && trimmed !== '' && !Number.isNaN(Number(trimmed)))
    return Number(trimmed);
  if (definition.type === 'array' && isRecord(definition.items)) return trimmed.split(',').map((one) => one.trim());
  return text;
}
