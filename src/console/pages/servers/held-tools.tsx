/** Definitions that cannot be called until an administrator accepts them, with what changed and every hidden character shown; and rejected ones. */
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { DiffLines } from '../../parts/diff-lines.tsx';
import { visible } from '../../parts/visible.ts';
import { visibleNodes } from '../../text/visible-nodes.ts';
import { AcceptFlagged } from './accept-flagged.tsx';
import { Decisions } from './decisions.tsx';
import type { OpenServer } from './server-state.ts';

type Tool = components['schemas']['ServerTool'];
type Held = Tool & { held: NonNullable<Tool['held']> };

const reasons: Readonly<Record<Held['held']['reason'], string>> = {
  changed: 'Its definition is not the accepted one.',
  new: 'Its server added it after the first listing.',
  suspicious: 'Its texts speak to the model about more than the tool.',
  server: 'The server at this address reports another name than before.',
  rejected: 'It was rejected. It stays so until that is undone or the server lists another definition.',
};

export function HeldTools({ state, tools }: { state: OpenServer; tools: readonly Tool[] }) {
  const held = tools.filter((tool): tool is Held => tool.held !== undefined);
  const renamed = tools.filter(({ state: of, renamedTo }) => of === 'missing' && renamedTo !== undefined);
  if (held.length + renamed.length === 0) return null;
  const { path } = state;
  const pending = held.filter(({ state: of }) => of === 'held');
  const plain = pending.filter(isPlain);
  // What was reviewed is accepted: if the server lists another definition by now, the response is 409.
  const accept = ({ name: tool, held: { refId } }: Held) =>
    moniker.value.post('/v1/servers/{server}/tools/{tool}/accept', { params: { path: { ...path, tool } }, body: { refId } });
  const acceptOne = async (tool: Held): Promise<void> => {
    if (await state.act(() => accept(tool))) announce(`${tool.name} is accepted`);
  };
  const acceptAll = () =>
    state.act(async () => {
      for (const tool of plain) await accept(tool);
    });
  const reject = async ({ name: tool, held: { refId } }: Held): Promise<void> => {
    const params = { path: { ...path, tool } };
    if (await state.act(() => moniker.value.post('/v1/servers/{server}/tools/{tool}/reject', { params, body: { refId } })))
      announce(`${tool} is rejected`);
  };
  const rebind = async ({ name: tool, renamedTo = '' }: Tool): Promise<void> => {
    const params = { path: { ...path, tool } };
    const isDone = await state.act(() =>
      moniker.value.post('/v1/servers/{server}/tools/{tool}/rebind', { params, body: { to: renamedTo } }),
    );
    if (isDone) announce(`${renamedTo} takes the place of ${tool}`);
  };
  return (
    <section aria-label="Held definitions">
      <div class="actions">
        <h2>Held definitions</h2>
        <span class="badge warn">{pending.length + renamed.length}</span>
        <span class="grow" />
        {plain.length > 1 && (
          <ConfirmButton
            label={plain.length === pending.length ? 'Accept all' : 'Accept all without findings'}
            question={`Accept all ${plain.length} as shown?`}
            onConfirm={() => void acceptAll()}
          />
        )}
      </div>
      <p class="muted">Models do not see these and cannot call them. The accepted definitions stay in force.</p>
      {held.map((tool) => (
        <HeldCard key={tool.name} state={state} tool={tool} onAccept={() => void acceptOne(tool)} onReject={() => void reject(tool)} />
      ))}
      {renamed.map((tool) => (
        <article key={tool.name} class="held-card" aria-label={tool.name}>
          <header class="actions">
            <code>{visible(tool.name)}</code>
            <span aria-hidden="true">→</span>
            <code>{visible(tool.renamedTo ?? '')}</code>
            <span class="grow" />
            <button type="button" class="primary" onClick={() => void rebind(tool)}>
              Rebind
            </button>
          </header>
          <p>
            The server no longer lists <code>{visible(tool.name)}</code>, but a new tool with the same definition. Rebind puts the new tool
            in its place in every toolset, under the same names.
          </p>
        </article>
      ))}
    </section>
  );
}

function isPlain({ held: { findings = [] } }: Held): boolean {
  return findings.length === 0;
}

type CardProps = { state: OpenServer; tool: Held; onAccept(): void; onReject(): void };

function HeldCard({ state, tool, onAccept, onReject }: CardProps) {
  const { name, held, description, inputSchema, decisions = [] } = tool;
  const { reason, changes, findings = [], refId } = held;
  const earlier = decisions.filter(({ decision, refId: of }) => decision === 'rejected' && of !== refId);
  return (
    <article class="held-card" aria-label={name}>
      <header class="actions">
        <code>{visible(name)}</code>
        <span class="badge warn">{reason}</span>
        <span class="grow" />
        {reason !== 'rejected' && (
          <>
            <button type="button" aria-label={`Reject ${name}`} onClick={onReject}>
              Reject
            </button>
            {isPlain(tool) && (
              <button type="button" class="primary" aria-label={`Accept ${name}`} onClick={onAccept}>
                Accept
              </button>
            )}
          </>
        )}
      </header>
      <p>
        {reasons[reason]}
        {earlier.length > 0 && ` ${earlier.length === 1 ? 'An earlier definition' : 'Earlier definitions'} of it was rejected.`}
      </p>
      <Decisions state={state} tool={tool} />
      {reason !== 'rejected' && !isPlain(tool) && <AcceptFlagged key={refId} state={state} tool={name} refId={refId} />}
      {findings.length > 0 && (
        <ul class="findings">
          {findings.map(({ finding, path, message }) => (
            <li key={`${finding} ${path} ${message}`}>
              <span class="badge bad">{visible(finding)}</span> <code>{visible(path)}</code> {visible(message)}
            </li>
          ))}
        </ul>
      )}
      {changes.length === 0 && (
        <>
          <p class="description">{visible(withHidden(description))}</p>
          <CodeBlock text={JSON.stringify(inputSchema, null, 2)} language="json" label={`Arguments of ${name}`} />
        </>
      )}
      {changes.map(({ path, from, to }, index) => (
        <div key={index}>
          <code>{visible(path === '' ? 'definition' : path)}</code>
          <DiffLines before={textOf(from)} after={textOf(to)} label={`Change of ${path} of ${name}`} />
        </div>
      ))}
    </article>
  );
}

/** An absent value has no lines. */
function textOf(value: unknown): string | null {
  return value === undefined ? null : withHidden(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
}

/** The service writes hidden characters as `<U+202E>`. As characters they are marked like everywhere else. */
function withHidden(text: string): string {
  return text.replaceAll(/<U\+([0-9A-F]{4,5}|10[0-9A-F]{4})>/g, (written, hex: string) => {
    const character = String.fromCodePoint(Number.parseInt(hex, 16));
    return visibleNodes(character).length > 1 ? character : written;
  });
}
