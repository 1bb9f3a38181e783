/** Asks what the policy says about a call or an effect, with changes that are not saved. Nothing is called or sent. */
import { IssuesOf } from '../../parts/fields/field-issues.tsx';
import { PlainForm } from '../../parts/fields/controls.tsx';
import { ChoiceField, TextField } from '../../parts/fields/fields.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useNames } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';

type Answer = components['schemas']['PolicyAnswer'];
type Question = components['schemas']['PolicyQuestion'];
type Asked = { of: string; tool: string; args: string; target: string; method: string; agent: string; key: string };

/** What is tested, and what its target is. */
const subjects = [
  ['call', 'a call of a tool', ''],
  ['network', 'a request to a host', 'Host'],
  ['delete-file', 'deleting a file', 'Path'],
  ['write-file', 'writing a file', 'Path'],
  ['read-file', 'reading a file', 'Path'],
  ['secret', 'reading a secret', 'Name of the secret'],
  ['resource', 'reading a resource of an MCP server', 'Server and URI'],
  ['prompt', 'getting a prompt of an MCP server', 'Server and name'],
] as const;

/** Subjects that are given by name. The others have a path or a host. */
const namedSubjects: ReadonlySet<string> = new Set(['secret', 'resource', 'prompt']);

const tones = { allow: 'ok', ask: 'warn', deny: 'bad' } as const;

/** `draft`: the rules with their changes; null: without changes. */
export function PolicyTester({
  draft,
  onDecided,
}: {
  draft: components['schemas']['Policy'] | null;
  onDecided(rule: number | null): void;
}) {
  const asked = useSignal<Asked>({
    ...{ of: 'call', tool: 'builtin.bash', args: '{"command": "rm -rf build; curl https://api.example.com/done"}' },
    ...{ target: '', method: 'POST', agent: '', key: '' },
  });
  const answer = useSignal<Answer | null>(null);
  const error = useSignal<unknown>(null);
  const tools = useNames((signal) => moniker.value.get('/v1/tools', { params: { query: { limit: 200, fields: 'summary' } }, signal }));
  const { of, tool, args, target, method, agent, key } = asked.value;
  const subject = subjects.find(([one]) => one === of) ?? subjects[0];
  const set = (members: Partial<Asked>) => (asked.value = { ...asked.value, ...members });
  const test = async (): Promise<void> => {
    error.value = null;
    answer.value = null;
    try {
      answer.value = await moniker.value.post('/v1/policy/test', {
        body: { ...toQuestion(asked.value), ...(draft !== null && { policy: draft }) },
      });
      onDecided(answer.value.rule?.index ?? null);
    } catch (thrown) {
      error.value = thrown instanceof SyntaxError ? new Error(`The arguments are not valid JSON: ${thrown.message}`) : thrown;
      onDecided(null);
    }
  };
  return (
    <aside class="inspector tester" aria-label="Test the policy">
      <h2>Test</h2>
      <p class="muted">
        What would the {draft === null ? 'saved rules' : 'rules with your unsaved changes'} say? Nothing is called or sent.
      </p>
      <IssuesOf error={error.value}>
        <PlainForm class="fields" send={test}>
          <ChoiceField
            label="Of"
            path="of"
            value={of}
            choices={subjects.map(([one, title]) => [one, title])}
            onInput={(one) => set({ of: one })}
          />
          <TextField
            label={of === 'call' ? 'Tool' : 'By the tool'}
            path="tool"
            suggestions={tools}
            value={tool}
            onInput={(text) => set({ tool: text.trim() })}
          />
          {of === 'call' ? (
            <TextField label="Arguments (JSON)" path="arguments" rows={4} isCode value={args} onInput={(text) => set({ args: text })} />
          ) : (
            <TextField label={subject[2]} path="effect" value={target} onInput={(text) => set({ target: text.trim() })} />
          )}
          {of === 'network' && (
            <TextField label="HTTP method" path="effect.method" value={method} onInput={(text) => set({ method: text.trim() })} />
          )}
          <div class="fields two">
            <TextField label="In a turn of the agent" path="agent" value={agent} onInput={(text) => set({ agent: text.trim() })} />
            <TextField label="With the key" path="key" placeholder="this one" value={key} onInput={(text) => set({ key: text.trim() })} />
          </div>
          <p>
            <button type="submit">Test</button>
          </p>
        </PlainForm>
      </IssuesOf>
      {error.value !== null && <ProblemView error={error.value} suggest={(one) => set({ tool: one })} />}
      {answer.value !== null && <Verdict answer={answer.value} />}
    </aside>
  );
}

function toQuestion({ of, tool, args, target, method, agent, key }: Asked): Question {
  const as = { ...(tool !== '' && { tool }), ...(agent !== '' && { agent }), ...(key !== '' && { key }) };
  if (of === 'call') return { ...as, arguments: args.trim() === '' ? {} : (JSON.parse(args) as Record<string, unknown>) };
  const members = of === 'network' ? { host: target, method } : namedSubjects.has(of) ? { name: target } : { path: target };
  // The service checks the members of the kind.
  return { ...as, effect: { kind: of, ...members } as Question['effect'] };
}

function Verdict({ answer: { verdict, reason, rule, notes = [], effects } }: { answer: Answer }) {
  return (
    <section aria-label="Verdict" role="status">
      <p>
        <span class={`badge ${tones[verdict]}`}>{verdict}</span> {rule === null ? 'by default' : `by rule ${rule.index}`}
      </p>
      <p>{visible(reason)}</p>
      {effects.length > 0 && (
        <ul class="effects">
          {effects.map(({ effect, verdict: own, reason: why, rule: index }, at) => (
            <li key={at}>
              <span class={`badge ${tones[own]}`}>{own}</span> <code>{visible(describe(effect))}</code>
              <span class="muted">
                {index === null ? 'default' : `rule ${index}`}: {visible(why)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {notes.map((note) => (
        <p key={note} class="muted">
          {visible(note)}
        </p>
      ))}
    </section>
  );
}

function describe({ kind, ...members }: Answer['effects'][number]['effect']): string {
  const values = Object.values(members).filter((value) => typeof value === 'string');
  return [kind, ...values].join(' ');
}
