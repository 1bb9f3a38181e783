/** What a draft or a held definition would have done to the calls of the last 30 days: of toolsets, agents, made tools, rules and servers. */
import { Warnings } from '../fields/field-issues.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import type { Impact, OpenDocument } from '../../api/document.ts';
import { useLoaded } from '../../api/load.ts';
import { pathOf } from '../../router.ts';
import { ProblemView } from '../text/problem-view.tsx';
import { visible } from '../text/visible.ts';

type Schemas = components['schemas'];
type Named = Schemas['ToolsetImpact'] | Schemas['AgentImpact'];
type Mended = NonNullable<Named['mended']>;
type Props = { read(signal: AbortSignal): Promise<Impact>; onMend?(mended: Mended): void };

/** Of the draft as it is now. */
export function DraftPastCalls({ document: { compare, draft, replace } }: { document: OpenDocument<unknown> }) {
  const read = async (signal: AbortSignal): Promise<Impact> => {
    if (compare === undefined) throw new Error('this kind of document is not compared with past calls');
    return await compare(draft.value, signal);
  };
  return <Compared label="Past calls" read={read} onMend={replace} />;
}

/** Of the held definition of `tool`, when the user asks for it. */
export function HeldPastCalls({ tool, read }: Pick<Props, 'read'> & { tool: string }) {
  const isAsked = useSignal(false);
  if (isAsked.value) return <Compared label={`Past calls of ${tool}`} read={read} />;
  return (
    <button type="button" aria-label={`What would accepting break? ${tool}`} onClick={() => (isAsked.value = true)}>
      What would accepting break?
    </button>
  );
}

function Compared({ label, read, onMend }: Props & { label: string }) {
  const { data, error, isLoading, reload } = useLoaded(read);
  return (
    <section aria-label={label}>
      {isLoading && <p class="loading">Comparing with past calls…</p>}
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      <div role="status">{data !== null && <Comparison impact={data} onMend={onMend} />}</div>
    </section>
  );
}

function Comparison({ impact, onMend }: { impact: Impact; onMend: Props['onMend'] }) {
  const names = 'same' in impact ? impact : null;
  const given = 'refused' in impact ? impact : (names?.arguments ?? null);
  const decided = 'idle' in impact ? impact : 'decisions' in impact ? impact.decisions : null;
  const [changed, refused] = [names?.changed ?? [], given?.refused ?? []];
  const elsewhere = changed.reduce((sum, { calls }) => sum + calls, 0);
  const found = [
    elsewhere > 0 && `${elsewhere} calls of the last 30 days would lead elsewhere.`,
    given !== null && refused.length > 0 && `It would have refused ${given.refusedCalls} of ${given.judged} recorded calls.`,
    decided !== null && decided.changedCalls > 0 && `It would have decided ${decided.changedCalls} of ${decided.judged} calls differently.`,
  ].filter((text) => text !== false);
  return (
    <>
      <p>{found.join(' ') || `It breaks none of the ${'same' in impact ? impact.same.calls : impact.judged} calls of the last 30 days.`}</p>
      <ul class="rows">
        {changed.map((one) => (
          <li key={one.requested}>
            <strong>{visible(one.requested)}</strong> {visible(changeText(one))}
            <span class="muted">
              {callsText(one)}, last on {one.lastDay}
              {agentsText(one)}
            </span>
            <SessionLinks sessions={one.sessions} />
          </li>
        ))}
        {refused.map((one, index) => (
          <Refused key={index} refused={one} />
        ))}
        {decided?.changed.map((one) => (
          <li key={`${one.tool} ${one.was.rule} ${one.was.verdict} ${one.now.rule}`}>
            <strong>{visible(one.tool)}</strong>: {callsText(one)} {verbs[one.now.verdict]} instead of {verbs[one.was.verdict]}
            <span class="muted">
              {visible(one.now.reason)}
              {agentsText(one)}
            </span>
          </li>
        ))}
      </ul>
      {notCompared(impact).map((text) => (
        <p key={text} class="muted">
          {text}
        </p>
      ))}
      {'idle' in impact && <Warnings warnings={impact.warnings ?? []} />}
      {names !== null && onMend !== undefined && <Fix names={names} onMend={onMend} />}
    </>
  );
}

type Calls = { calls: number; agents: readonly string[] };
const callsText = ({ calls }: Pick<Calls, 'calls'>): string => (calls === 1 ? '1 call' : `${calls} calls`);
const agentsText = ({ agents }: Calls): string => (agents.length > 0 ? `, by ${visible(agents.join(', '))}` : '');
const verbs = { allow: 'allowed', ask: 'asked about', deny: 'denied' } as const;

function changeText({ change, was, now, wireName, targets }: Named['changed'][number]): string {
  const instead = wireName === null ? '' : `; the tool is called ${wireName} now`;
  return {
    gone: `no longer works${instead}`,
    moved: `calls ${now.join(', ')} instead of ${was}`,
    ambiguous: `matches ${now.join(' and ')}`,
    unusable: `is the name of a tool that cannot be called`,
    targets: `may run on ${targets?.now.tools.join(', ')} instead of ${targets?.was.tools.join(', ')}, or is chosen otherwise`,
    found: `works: it calls ${now.join(', ')}`,
  }[change];
}

type RefusedCalls = Omit<Schemas['DefinitionImpact']['refused'][number], 'toolset'> & { toolset?: string | null };

/** `toolset`: the calls were made with it, and its entry takes the aliases; null: without one. */
function Refused({ refused: { tool, toolset, calls, issues, mends, sessions } }: { refused: RefusedCalls }) {
  return (
    <li>
      <strong>{visible(tool)}</strong> refuses {callsText({ calls })}:{' '}
      {visible(issues.map(({ path, message }) => `${path} ${message}`).join('; '))}
      {toolset === null && <span class="muted">without a toolset</span>}
      {toolset != null && (
        <span class="muted">
          {'of the toolset '}
          <a href={pathOf('toolsets', toolset)}>{visible(toolset)}</a>
        </span>
      )}
      {mends.length > 0 && (
        <span class="muted">
          kept by aliases of arguments: {visible(mends.map(({ alias, argument }) => `${alias} → ${argument}`).join(', '))}
        </span>
      )}
      <SessionLinks sessions={sessions} />
    </li>
  );
}

/** One click puts what keeps the calls into the draft. */
function Fix({ names, onMend }: { names: Named; onMend(mended: Mended): void }) {
  const { mended } = names;
  const by = 'agent' in names ? `these tools: ${names.mends.map(({ tool }) => tool).join(', ')}` : 'deprecated aliases';
  if (mended === null) return names.changed.length > 0 && <p class="muted">No fix is known.</p>;
  return (
    <button type="button" onClick={() => onMend(mended)}>
      Keep what can be kept, by {visible(by)}
    </button>
  );
}

/** Sentences about the calls that the comparison leaves out. */
function notCompared(impact: Impact): string[] {
  const texts: string[] = [];
  const note = (calls: number, why: string): void => void (calls > 0 && texts.push(`${calls} calls were not compared: ${why}.`));
  if ('same' in impact) {
    note(impact.unjudged, 'their names were not stored');
    if ('elsewhere' in impact) note(impact.elsewhere, 'their turns named another toolset');
    if (impact.nextCursor !== null) texts.push('There are more names than were compared here. The API compares them in pages.');
  }
  if ('hashed' in impact) note(impact.hashed + impact.left, 'their arguments are not stored, or they are of too many toolsets');
  const decided = 'idle' in impact ? impact : 'decisions' in impact ? impact.decisions : null;
  if (decided !== null) note(decided.unjudged.arguments + decided.unjudged.tools, 'their tools or arguments are not known');
  if ('idle' in impact) {
    if (impact.idle.length > 0) texts.push(`Rules that decided none of them: ${impact.idle.join(', ')}.`);
    if (impact.more) texts.push('There are more calls than were compared.');
  }
  const turns = 'turns' in impact ? impact.turns : impact.arguments?.turns;
  if (turns !== undefined && (turns.left > 0 || turns.more))
    texts.push('The calls of some turns were not read: there are too many, or their session was deleted.');
  return texts;
}

const maxLinks = 5;

/** Links to the sessions that something concerns. */
function SessionLinks({ sessions }: { sessions: readonly string[] }) {
  if (sessions.length === 0) return null;
  return (
    <span class="muted">
      {'in '}
      {sessions.slice(0, maxLinks).map((session) => (
        <a key={session} href={pathOf('sessions', session)}>
          {session.slice(0, 8)}{' '}
        </a>
      ))}
      {sessions.length > maxLinks && `and ${sessions.length - maxLinks} more`}
    </span>
  );
}
