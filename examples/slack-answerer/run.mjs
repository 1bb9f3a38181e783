/** Sets up the answerer and sends it a mention, as Slack would. Slack's API and the model are local stand-ins. */
import { createHmac, randomUUID } from 'node:crypto';
import { call, forget, setUp, until, url } from '../lib/moniker.mjs';
import { startApi, startModel } from '../lib/stand-ins.mjs';

const posted = [];
const slack = await startApi(({ path, body }) => {
  posted.push(JSON.parse(body));
  console.log(`Slack: ${path} ${body}`);
  return { ok: true };
});
const model = await startModel((input) => {
  const [, channel, thread] = /in channel (\S+), thread (\S+):/.exec(input);
  return [{ name: 'post_message', arguments: { channel, thread_ts: thread, text: 'On Thursday.' } }];
});

try {
  // It costs nothing, which a workspace with a budget has to know.
  const prices = { '*': { input: 0, output: 0 } };
  await call('PUT', '/v1/providers/stand-in', { kind: 'openai-compatible', baseUrl: `${model.url}/v1`, apiKey: 'none', prices });
  await forget('slack', 'slack');
  const secret = randomUUID();
  await setUp(new URL('./setup.json', import.meta.url), {
    $MODEL: 'stand-in/answers',
    $SLACK_TOKEN: 'xoxb-stand-in',
    $SIGNING_SECRET: secret,
    'https://slack.com': slack.url,
    '"slack.com"': JSON.stringify(slack.host),
  });
  await sendMention(secret, { type: 'app_mention', user: 'U1', channel: 'C1', ts: '1795000000.000100', text: 'When do we ship?' });
  await until('an answer in the thread', () => posted[0]);
  const [delivery] = (await call('GET', '/v1/webhooks/slack/deliveries')).items;
  console.log(`session ${delivery.sessionKey}`);
} finally {
  slack.close();
  model.close();
}

/** Signs the event as Slack does. */
async function sendMention(secret, event) {
  const body = JSON.stringify({ type: 'event_callback', event_id: `Ev${randomUUID()}`, event });
  const time = String(Math.floor(Date.now() / 1000));
  const response = await fetch(`${url}/hooks/default/slack`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')}`,
    },
    body,
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}
