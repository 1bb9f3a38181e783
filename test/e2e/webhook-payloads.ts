/**
 * Events of GitHub, Slack and Stripe in their original format, with the commonly used fields, and the signatures of each (and of Standard
 * Webhooks). Written for the tests; sources: docs.github.com "Webhook events and payloads" and "Validating webhook deliveries",
 * api.slack.com "Events API", "Slash commands", "Handling user interaction" and "Verifying requests from Slack", docs.stripe.com "The
 * Event object" and "Resolve webhook signature verification errors", standardwebhooks.com. The signing code is independent of the
 * product's.
 */
import { createHmac, randomUUID } from 'node:crypto';
import type { RunningService } from './service.ts';

/** A request to be sent: the signed bytes and all headers. */
export type SignedDelivery = { body: string; headers: Record<string, string> };

export type HookAnswer = {
  status: number;
  headers: Headers;
  text: string;
  // Tests read responses of many shapes; their assertions check them.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  json: any;
};

/** Sends it as the provider does: no key and no cookie, only the signature. */
export async function deliver(service: Pick<RunningService, 'url'>, webhook: string, delivery: SignedDelivery): Promise<HookAnswer> {
  const response = await fetch(`${service.url}/hooks/default/${webhook}`, {
    method: 'POST',
    headers: delivery.headers,
    body: delivery.body,
    signal: AbortSignal.timeout(40_000),
  });
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null };
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text, 'utf8');
const seconds = (): string => String(Math.floor(Date.now() / 1000));

// ---- GitHub ----

export function signGitHub(secret: string, event: string, payload: unknown, delivery: string = randomUUID()): SignedDelivery {
  const body = JSON.stringify(payload);
  return {
    body,
    headers: {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-delivery': delivery,
      'x-github-event': event,
      'x-github-hook-id': '292430182',
      'x-github-hook-installation-target-id': '79929171',
      'x-github-hook-installation-target-type': 'repository',
      'x-hub-signature-256': `sha256=${hmac(secret, body).digest('hex')}`,
    },
  };
}

type GitHubIssue = { number: number; title: string; body: string | null; login?: string; labels?: string[] };

export function gitHubIssue(action: 'opened' | 'edited' | 'closed', issue: GitHubIssue) {
  return { action, issue: issueOf(issue), repository: repository(), sender: user(issue.login ?? 'monalisa') };
}

export function gitHubComment(issue: GitHubIssue, comment: { id: number; body: string; login: string }) {
  const { id, body, login } = comment;
  return {
    action: 'created',
    issue: issueOf(issue),
    comment: {
      url: `${api}/issues/comments/${id}`,
      html_url: `${site}/issues/${issue.number}#issuecomment-${id}`,
      issue_url: `${api}/issues/${issue.number}`,
      id,
      node_id: 'IC_kwDOEvLLEs5d1Q2F',
      user: user(login),
      created_at: '2026-11-20T09:12:44Z',
      updated_at: '2026-11-20T09:12:44Z',
      author_association: 'NONE',
      body,
      reactions: reactions(`${api}/issues/comments/${id}/reactions`),
      performed_via_github_app: null,
    },
    repository: repository(),
    sender: user(login),
  };
}

export function gitHubPing() {
  return {
    zen: 'Non-blocking is better than blocking.',
    hook_id: 292430182,
    hook: {
      type: 'Repository',
      id: 292430182,
      name: 'web',
      active: true,
      events: ['issue_comment', 'issues'],
      config: { content_type: 'json', insecure_ssl: '0', secret: '********', url: 'https://moniker.example.com/hooks/default/github' },
      updated_at: '2026-11-20T09:00:00Z',
      created_at: '2026-11-20T09:00:00Z',
      last_response: { code: null, status: 'unused', message: null },
    },
    repository: repository(),
    sender: user('monalisa'),
  };
}

const api = 'https://api.github.com/repos/acme/shop';
const site = 'https://github.com/acme/shop';

function issueOf({ number, title, body, login = 'monalisa', labels = [] }: GitHubIssue) {
  return {
    url: `${api}/issues/${number}`,
    repository_url: api,
    labels_url: `${api}/issues/${number}/labels{/name}`,
    comments_url: `${api}/issues/${number}/comments`,
    html_url: `${site}/issues/${number}`,
    id: 1_500_000_000 + number,
    node_id: 'I_kwDOEvLLEs5ZaZaZ',
    number,
    title,
    user: user(login),
    labels: labels.map((name, index) => ({
      id: 208045946 + index,
      node_id: 'LA_kwDOEvLLEs8',
      name,
      color: 'd73a4a',
      default: true,
      description: null,
    })),
    state: 'open',
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: 0,
    created_at: '2026-11-20T09:10:02Z',
    updated_at: '2026-11-20T09:10:02Z',
    closed_at: null,
    author_association: 'NONE',
    active_lock_reason: null,
    body,
    reactions: reactions(`${api}/issues/${number}/reactions`),
    timeline_url: `${api}/issues/${number}/timeline`,
    performed_via_github_app: null,
    state_reason: null,
  };
}

function repository() {
  return {
    id: 317855506,
    node_id: 'R_kgDOEvLLEg',
    name: 'shop',
    full_name: 'acme/shop',
    private: false,
    owner: { ...user('acme'), type: 'Organization' },
    html_url: site,
    description: 'Where things are sold.',
    fork: false,
    url: api,
    topics: [],
    visibility: 'public',
    default_branch: 'main',
  };
}

function user(login: string) {
  const isBot = login.endsWith('[bot]');
  return {
    login,
    id: 1,
    node_id: 'MDQ6VXNlcjE=',
    avatar_url: 'https://avatars.githubusercontent.com/u/1?v=4',
    gravatar_id: '',
    url: `https://api.github.com/users/${login}`,
    html_url: `https://github.com/${login}`,
    type: isBot ? 'Bot' : 'User',
    site_admin: false,
  };
}

function reactions(url: string) {
  return { url, total_count: 0, '+1': 0, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 };
}

// ---- Slack ----

/** Slack signs JSON (events) and forms (commands, interactivity) alike. */
function signSlack(secret: string, body: string, contentType: string): SignedDelivery {
  const timestamp = seconds();
  return {
    body,
    headers: {
      accept: '*/*',
      'accept-encoding': 'gzip,deflate',
      'content-type': contentType,
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${hmac(secret, `v0:${timestamp}:${body}`).digest('hex')}`,
    },
  };
}

export function signSlackEvent(secret: string, payload: unknown, retry?: { number: number; reason: string }): SignedDelivery {
  const { body, headers } = signSlack(secret, JSON.stringify(payload), 'application/json');
  if (retry === undefined) return { body, headers };
  return { body, headers: { ...headers, 'x-slack-retry-num': String(retry.number), 'x-slack-retry-reason': retry.reason } };
}

type SlackMention = { text: string; ts: string; threadTs?: string; user?: string; channel?: string; botId?: string };

export function slackMention({ text, ts, threadTs, user: by = 'U123ABC456', channel = 'C123ABC456', botId }: SlackMention) {
  return {
    token: 'ZZZZZZWSxiZZZ2yIvs3peJ',
    team_id: 'T123ABC456',
    context_team_id: 'T123ABC456',
    context_enterprise_id: null,
    api_app_id: 'A123ABC456',
    event: {
      user: by,
      type: 'app_mention',
      ts,
      ...(botId === undefined ? { client_msg_id: '4c1a3b7e-0f2d-4a11-9d36-6a7d8a5f0a01' } : { bot_id: botId, app_id: 'A123ABC456' }),
      text: `<@U0LAN0Z89> ${text}`,
      team: 'T123ABC456',
      ...(threadTs !== undefined && { thread_ts: threadTs, parent_user_id: 'U123ABC456' }),
      blocks: [
        {
          type: 'rich_text',
          block_id: 'ur7O',
          elements: [
            {
              type: 'rich_text_section',
              elements: [
                { type: 'user', user_id: 'U0LAN0Z89' },
                { type: 'text', text: ` ${text}` },
              ],
            },
          ],
        },
      ],
      channel,
      event_ts: ts,
    },
    type: 'event_callback',
    event_id: `Ev${ts.replace('.', '')}`,
    event_time: Math.floor(Number(ts)),
    authorizations: [{ enterprise_id: null, team_id: 'T123ABC456', user_id: 'U0LAN0Z89', is_bot: true, is_enterprise_install: false }],
    is_ext_shared_channel: false,
    event_context: '4-eyJldCI6ImFwcF9tZW50aW9uIn0',
  };
}

export function slackUrlCheck(challenge: string) {
  return { token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl', challenge, type: 'url_verification' };
}

// ---- Standard Webhooks ----

export function signStandard(secret: string, payload: unknown, id = `msg_${randomUUID().replaceAll('-', '')}`): SignedDelivery {
  const body = JSON.stringify(payload);
  const timestamp = seconds();
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest('base64')}`,
    },
  };
}
