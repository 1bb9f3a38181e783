/** The message box. Its text is stored in the tab until it is sent, so that neither a reload nor an error loses it. */
import { PlainForm } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ChatSession } from '../../session/chat-session.ts';
import { turnStatus } from '../../session/fold-events.ts';

type ComposerProps = {
  draft: string;
  session: ChatSession | null;
  onSend(text: string): Promise<boolean>;
  onStop(): void;
  onPrompts(): void;
};

export function Composer({ draft, session, onSend, onStop, onPrompts }: ComposerProps) {
  const storageName = `moniker-draft-${draft}`;
  const text = useSignal(sessionStorage.getItem(storageName) ?? '');
  const isSending = useSignal(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a phone, the keyboard would cover the page.
    if (matchMedia('(min-width: 960px)').matches) box.current?.focus();
  }, []);
  const write = (value: string): void => {
    text.value = value;
    if (value === '') sessionStorage.removeItem(storageName);
    else sessionStorage.setItem(storageName, value);
  };
  const send = async (): Promise<void> => {
    const message = text.value.trim();
    if (message === '' || isSending.value) return;
    isSending.value = true;
    if (await onSend(message)) write('');
    isSending.value = false;
  };
  const turn = session === null || session.version.value < 0 ? undefined : session.conversation.turns.at(-1);
  const isRunning = turn !== undefined && turn.endAt === null;
  return (
    <PlainForm class="composer" send={send}>
      <label for="message" class="visually-hidden">
        Message
      </label>
      <div class="line">
        <button type="button" aria-label="Prompts" onClick={onPrompts}>
          /
        </button>
        <textarea
          id="message"
          ref={box}
          rows={1}
          value={text.value}
          placeholder={turn !== undefined && turnStatus(turn) === 'waiting' ? 'Waiting for you above' : 'Write a message'}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        {isRunning && (
          <button type="button" onClick={onStop}>
            Stop
          </button>
        )}
        <button type="submit" class="primary" disabled={isSending.value}>
          Send
        </button>
      </div>
    </PlainForm>
  );
}
