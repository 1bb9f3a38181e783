/** Definitions that cannot be called until an administrator accepts them, with what changed and every hidden character shown; and rejected ones. */
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { late } from '../../parts/layout/late.tsx';
import { visible } from '../../parts/text/visible.ts';
import { HeldCard, hasNoFindings, withHidden } from './held-card.tsx';
import { toolSubject } from './review-subject.ts';
import type { OpenServer } from './server-state.ts';

const HeldPastCalls = late(async () => (await import('../../parts/records/past-calls.tsx')).HeldPastCalls);

type Tool = components['schemas']['ServerTool'];
type Held = Tool & { held: NonNullable<Tool['held']> };

export function HeldTools({ state, tools }: { state: OpenServer; tools: readonly Tool[] }) {
  const held = tools.filter((tool): tool is Held => tool.held !== undefined);
  const renamed = tools.filter(({ state: of, renamedTo }) => of === 'missing' && renamedTo !== undefined);
  if (held.length + renamed.length === 0) return null;
  const { path } = state;
  const pending = held.filter(({ state: of }) => of === 'held');
  const plain = pending.filter(({ held }) => hasNoFindings(held));
  // Only what was shown is decided about: if the server lists another definition by now, the response is 409.
  const decideAll = (action: 'accept' | 'reject', chosen: readonly Held[]) =>
    state.act(async () => {
      for (const { name, held } of chosen) await toolSubject(state, name).decide(action, { refId: held.refId });
    });
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
        {pending.length > 1 && (
          <ConfirmButton
            label="Reject all"
            question={`Reject all ${pending.length} as shown?`}
            onConfirm={() => void decideAll('reject', pending)}
          />
        )}
        {plain.length > 1 && (
          <ConfirmButton
            label={plain.length === pending.length ? 'Accept all' : 'Accept all without findings'}
            question={`Accept all ${plain.length} as shown?`}
            onConfirm={() => void decideAll('accept', plain)}
          />
        )}
      </div>
      <p class="muted">Models cannot call these, by the definition that was accepted before either.</p>
      {held.map((tool) => (
        <HeldCard
          key={tool.name}
          state={state}
          subject={toolSubject(state, tool.name)}
          held={tool.held}
          decisions={tool.decisions}
          pastCalls={
            <HeldPastCalls
              key={tool.held.refId}
              tool={tool.name}
              read={(signal) =>
                moniker.value.get('/v1/servers/{server}/tools/{tool}/impact', { params: { path: { ...path, tool: tool.name } }, signal })
              }
            />
          }
        >
          <p class="description">{visible(withHidden(tool.description))}</p>
          <CodeBlock text={JSON.stringify(tool.inputSchema, null, 2)} language="json" label={`Arguments of ${tool.name}`} />
        </HeldCard>
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
