/**
 * A guard: an HTTP endpoint that Moniker asks before each tool call and after each result. It verifies the signature (Standard Webhooks),
 * denies shell commands that delete files, changes `date` to UTC, and hides order numbers in results.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

/** `secret`: `whsec_` and base64. Resolves when the guard listens. */
export async function startGuard(secret, port = 0) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    if (!isSigned(secret, request.headers, body)) return response.writeHead(401).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(decide(JSON.parse(body))));
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

function decide({ event, canonical, arguments: args, result }) {
  if (event === 'after') {
    const text = JSON.stringify(result.content);
    const hidden = text.replaceAll(/ORDER-\d+/g, 'ORDER-…');
    return hidden === text ? { decision: 'allow' } : { decision: 'replace', content: JSON.parse(hidden) };
  }
  if (canonical === 'builtin.bash' && /\brm\b/.test(args.command))
    return { decision: 'deny', reason: 'deleting files is not allowed here' };
  if (canonical === 'builtin.bash' && args.command.startsWith('date'))
    return { decision: 'replace', reason: 'times are in UTC', arguments: { ...args, command: args.command.replace('date', 'date -u') } };
  return { decision: 'allow' };
}

function isSigned(secret, headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature = '' } = headers;
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`);
  return signature.split(' ').some((one) => one.length === expected.length && timingSafeEqual(Buffer.from(one), expected));
}
