/**
 * Sets up the triager and sends it an issue, as GitHub would. GitHub's API, the model and the receiver of callbacks are local stand-ins.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { call, forget, setUp, until, url } from '../lib/moniker.mjs';
import { startApi, startModel } from '../lib/stand-ins.mjs';

const github = await startApi(({ method, path, body }) => {
  console.log(`GitHub: ${method} ${path} ${body}`);
  return path.endsWith('/labels') ? JSON.parse(body).labels.map((name) => ({ name })) : { status: 201, json: { id: 1 } };
});
// Labels each issue, and asks for the version where none is given.
const model = await startModel((input) => {
  const issue = /Issue.*?(\d+)/.exec(input);
  if (issue === null) return 'Noted.';
  const number = Number(issue[1]);
  return [
    { name: 'add_labels', arguments: { issue_number: number, labels: ['bug', 'needs-info'] } },
    { name: 'add_comment', arguments: { issue_number: number, body: 'Thank you. Which version is it?' } },
  ];
});
const callbacks = [];
const receiver = await startApi(({ body }) => {
  callbacks.push(JSON.parse(body));
  return {};
});

try {
  // It costs nothing, which a workspace with a budget has to know.
  const prices = { '*': { input: 0, output: 0 } };
  await call('PUT', '/v1/providers/stand-in', { kind: 'openai-compatible', baseUrl: `${model.url}/v1`, apiKey: 'none', prices });
  await forget('github', 'triage');
  const secret = randomUUID();
  await setUp(new URL('./setup.json', import.meta.url), {
    $MODEL: 'stand-in/triage',
    $GITHUB_TOKEN: 'github_pat_stand_in',
    $WEBHOOK_SECRET: secret,
    $CALLBACK_URL: `${receiver.url}/moniker`,
    $CALLBACK_SECRET: `whsec_${Buffer.from(randomUUID()).toString('base64')}`,
    'https://api.github.com': github.url,
    '"api.github.com"': JSON.stringify(github.host),
  });

  const delivery = await sendIssue(secret, {
    number: 17,
    title: 'Crash at checkout',
    body: 'It just crashes.',
    user: { login: 'monalisa' },
  });
  console.log(`delivery ${delivery.status}`);

  const asked = await until('a callback for the comment', () => callbacks.find(({ type }) => type === 'approval.required'));
  const { session, pending } = asked.data;
  console.log(`callback ${asked.type}: ${pending[0].canonical} ${JSON.stringify(pending[0].arguments)}`);
  await call('POST', `/v1/sessions/${session}/approvals/${pending[0].callId}`, { decision: 'approve' });

  const ended = await until('a callback for the end', () => callbacks.find(({ type }) => type === 'turn.completed'));
  console.log(`callback ${ended.type}: ${ended.data.text}`);
} finally {
  for (const server of [github, model, receiver]) server.close();
}

/** Signs the event as GitHub does. */
async function sendIssue(secret, issue) {
  const body = JSON.stringify({ action: 'opened', issue, repository: { full_name: 'acme/shop' }, sender: issue.user });
  const response = await fetch(`${url}/hooks/default/github`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}
