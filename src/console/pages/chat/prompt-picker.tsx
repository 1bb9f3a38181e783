/** The prompts that the toolset of a chat offers. A chosen one is sent with its arguments; its messages are the input of the turn. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { PlainForm } from '../../parts/fields/controls.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import type { ChatSession } from '../../session/chat-session.ts';

type Prompt = components['schemas']['SessionPrompt'];

export function PromptPicker({ session, onClose }: { session: ChatSession; onClose(): void }) {
  const prompts = useSignal<readonly Prompt[] | null>(null);
  const problem = useSignal<unknown>(null);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    problem.value = null;
    await work().catch((error: unknown) => (problem.value = error));
  };
  const load = () =>
    attempt(async () => {
      const { items } = await moniker.value.get('/v1/sessions/{id}/prompts', { params: { path: { id: session.id } } });
      prompts.value = items;
    });
  useEffect(() => void load(), [session.id]);
  const send = ({ name, arguments: known }: Prompt, form: HTMLFormElement) =>
    attempt(async () => {
      const values = new FormData(form);
      const given = known.map((argument): [string, string] => [argument.name, String(values.get(argument.name) ?? '')]);
      // An optional argument that is left empty is not sent.
      await session.submit(`/${name}`, { name, arguments: Object.fromEntries(given.filter(([, value]) => value !== '')) });
      onClose();
    });
  return (
    <Sheet title="Prompts" onClose={onClose}>
      {problem.value !== null && <ProblemView error={problem.value} {...(prompts.value === null && { retry: () => void load() })} />}
      {prompts.value === null && problem.value === null && <p class="loading">Loading…</p>}
      {prompts.value?.length === 0 && (
        <p class="muted">
          The toolset of this chat offers no prompts. Its members “prompts” and the trusted servers of its tools decide which it has.
        </p>
      )}
      {prompts.value?.map((prompt) => (
        <details key={prompt.name} name="prompt">
          <summary>
            <code>{visible(prompt.name)}</code> {prompt.title !== undefined && visible(prompt.title)}
          </summary>
          <PlainForm aria-label={prompt.name} send={(form) => void send(prompt, form)}>
            {prompt.description !== undefined && <p>{visible(prompt.description)}</p>}
            <p class="muted">Of the server {prompt.server}</p>
            {prompt.arguments.map((argument) => (
              <Argument key={argument.name} argument={argument} />
            ))}
            <div class="actions">
              <button type="submit" class="primary">
                Send
              </button>
            </div>
          </PlainForm>
        </details>
      ))}
    </Sheet>
  );
}

function Argument({ argument: { name, description, required } }: { argument: Prompt['arguments'][number] }) {
  return (
    <label class="field">
      <span>
        {visible(name)} {!required && <span class="muted">(optional)</span>}
      </span>
      <input name={name} required={required} />
      {description !== undefined && <span class="muted">{visible(description)}</span>}
    </label>
  );
}
