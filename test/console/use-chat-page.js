/** A page with `useChat`, as an application would have it: the messages, a field, and two buttons for a call that waits. `location.hash` has the service and the key. */
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { createElement as element, useState } from 'react';
import { createRoot } from 'react-dom/client';

const { url, key } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const headers = { authorization: `Bearer ${key}` };
const transport = new DefaultChatTransport({ api: `${url}/v1/ai-sdk/chat`, headers, body: { model: 'agent/guarded' } });

function Chat() {
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useChat({ transport, sendAutomaticallyWhen });
  const [reason, setReason] = useState('');
  const decide = (id, approved) => addToolApprovalResponse({ id, approved, ...(reason !== '' && { reason }) });
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text: new FormData(event.target).get('text') });
  };
  const part = (one, index) =>
    one.type === 'text'
      ? element('p', { key: index }, one.text)
      : one.type === 'dynamic-tool' &&
        element(
          'div',
          { key: index, role: 'group', 'aria-label': one.toolName },
          `${one.state} ${JSON.stringify(one.input)}`,
          one.state === 'approval-requested' && [
            element('button', { type: 'button', key: 'yes', onClick: () => decide(one.approval.id, true) }, 'Approve'),
            element('button', { type: 'button', key: 'no', onClick: () => decide(one.approval.id, false) }, 'Deny'),
          ],
        );
  return element(
    'main',
    null,
    messages.map(({ id, role, parts }) => element('article', { key: id, 'aria-label': role }, parts.map(part))),
    element('output', null, error?.message ?? status),
    element('input', { 'aria-label': 'Reason', value: reason, onChange: ({ target }) => setReason(target.value) }),
    element(
      'form',
      { onSubmit: send },
      element('input', { name: 'text', 'aria-label': 'Message' }),
      element('button', { type: 'submit' }, 'Send'),
    ),
  );
}

createRoot(document.body).render(element(Chat));
