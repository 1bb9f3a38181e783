/**
 * The example `examples/slack-answerer` with its own configuration. Slack's API and the model are stand-ins; the events have Slack's
 * format and signature.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenApi, type ApiServer } from '../fakes/api-server.ts';
import type { Say, Understood } from '../fakes/upstreams/upstream.ts';
import { eventually } from './eventually.ts';
import { readSetup, runRecipe } from './recipe.ts';
import { shareService } from './shared-service.ts';
import { inputOf, scriptedModel, startTriggeredModel, type TriggeredModel } from './triggered-model.ts';
import { deliver, signSlackEvent, slackMention, slackUrlCheck, type HookAnswer } from './webhook-payloads.ts';

const secret = 'the signing secret of the app';
const [firstTs, secondTs, otherTs] = ['1795000000.000100', '1795000060.000200', '1795000120.000300'];

describe('the Slack answerer of the examples', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let slack: ApiServer;
  let model: TriggeredModel;

  /** Posts an answer to the thread of its input, then ends the turn. */
  const script = (heard: Understood): Say => {
    const place = /in channel (\S+), thread (\S+):/.exec(inputOf(heard) ?? '');
    if (place === null) return { text: 'Posted.' };
    const questions = heard.messages.filter(({ role }) => role === 'user').length;
    return { calls: [{ name: 'post_message', arguments: { channel: place[1], thread_ts: place[2], text: `Answer ${questions}` } }] };
  };

  beforeAll(async () => {
    slack = await listenApi(
      () => '',
      () => ({ ok: true, channel: 'C123ABC456', ts: '1795000010.000900' }),
    );
    model = await startTriggeredModel(service, script);
  });
  afterAll(() => {
    slack?.close();
    model?.close();
  });

  const send = (payload: unknown, retry?: { number: number; reason: string }): Promise<HookAnswer> =>
    deliver(service, 'slack', signSlackEvent(secret, payload, retry));
  const rows = async () => (await service.call('GET', '/v1/webhooks/slack/deliveries')).json.items;
  const completed = (id: string) =>
    eventually(`delivery ${id} is completed`, async () => {
      const found = (await rows()).find((item: { id: string }) => item.id === id);
      return found?.status === 'completed' ? found : undefined;
    });
  const posted = () => slack.calls.map(({ path, body }) => `${path} ${body}`);
  const answer = (thread: string, text: string) =>
    `/api/chat.postMessage ${JSON.stringify({ channel: 'C123ABC456', thread_ts: thread, text })}`;
  let session = '';

  it('is set up by its commands in order', async () => {
    const commands = readSetup('slack-answerer');
    const answers = await runRecipe(service, commands, {
      'https://slack.com': slack.origin,
      '"slack.com"': JSON.stringify(slack.host),
      $SLACK_TOKEN: 'xoxb-of-a-test',
      $MODEL: scriptedModel,
      $SIGNING_SECRET: secret,
    });
    expect(answers.map(({ status }) => status)).toEqual(commands.map(() => 201));
    expect(answers[1]?.json).toMatchObject({ toolCount: 1, health: { status: 'ok' }, warnings: [] });
    expect(answers.flatMap(({ json }) => json.warnings ?? [])).toEqual([]);
  });

  it('responds to Slack’s URL verification, and rejects others', async () => {
    const check = slackUrlCheck('3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P');
    const { status, text, headers } = await send(check);
    expect([status, text]).toEqual([200, check.challenge]);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect((await deliver(service, 'slack', signSlackEvent('a guess', check))).status).toBe(404);
    expect(await rows()).toEqual([]);
  });

  it('answers a mention in its thread with the bot’s token', async () => {
    const { status, json } = await send(slackMention({ text: 'when do we ship?', ts: firstTs }));
    expect(status).toBe(202);
    session = json.session;
    expect(await completed(json.delivery)).toMatchObject({ event: 'app_mention', sessionKey: `C123ABC456/${firstTs}`, warnings: [] });
    expect(posted()).toEqual([answer(firstTs, 'Answer 1')]);
    expect(slack.calls[0]?.headers.authorization).toBe('Bearer xoxb-of-a-test');
    expect(inputOf(model.understood[0] as Understood)).toContain('when do we ship?');
  });

  it('starts nothing when Slack redelivers the event because a response was late', async () => {
    const { status, json } = await send(slackMention({ text: 'when do we ship?', ts: firstTs }), { number: 1, reason: 'http_timeout' });
    expect([status, json]).toMatchObject([202, { session, status: 'completed', repeated: true }]);
    expect(posted()).toHaveLength(1);
  });

  it('remembers the thread, requires no approval for the next answer, and shares nothing with other threads', async () => {
    const next = await send(slackMention({ text: 'and from where?', ts: secondTs, threadTs: firstTs }));
    expect(next.json).toMatchObject({ session });
    await completed(next.json.delivery);
    const apart = await send(slackMention({ text: 'who are you?', ts: otherTs }));
    expect(apart.json.session).not.toBe(session);
    await completed(apart.json.delivery);
    expect(posted()).toEqual([answer(firstTs, 'Answer 1'), answer(firstTs, 'Answer 2'), answer(otherTs, 'Answer 1')]);
  });

  it('ignores its own messages and those of other bots', async () => {
    const { status, json } = await send(slackMention({ text: 'I am a bot', ts: '1795000180.000400', botId: 'B123ABC456' }));
    expect([status, json]).toMatchObject([202, { status: 'ignored', session: null, turn: null }]);
    expect(posted()).toHaveLength(3);
    expect(model.refused).toEqual([]);
  });
});
