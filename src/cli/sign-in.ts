/** The sign-in of `moniker add server`: the page of a server with OAuth that a user opens in a browser. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MonikerClient } from '../../client/src/index.ts';
import { print } from '../local/printing.ts';
import { CommandFailure } from './failure.ts';

/** How often it looks whether the user has signed in. */
const lookMs = 1_000;

export type StartedSignIn = { authorizationUrl: string; expiresAt: string };

/** Returns the page to open. `waits`: whether the command then waits for the user. */
export async function startSignIn(
  client: MonikerClient,
  server: string,
  { waits, isQuiet }: { waits: boolean; isQuiet: boolean },
): Promise<StartedSignIn> {
  const started = await client.post('/v1/servers/{server}/authorize', { params: { path: { server } } });
  if (isQuiet) return started;
  print(`Sign in to ${server} on this page, until ${new Date(started.expiresAt).toLocaleTimeString()}:\n  ${started.authorizationUrl}`);
  if (process.stdout.isTTY) openBrowser(started.authorizationUrl);
  if (!waits) print(`Later: moniker add server ${server} <url> --oauth --replace`);
  return started;
}

/** Waits until the user has signed in. Returns the server with its tools. */
export async function waitForSignIn(client: MonikerClient, server: string, { expiresAt }: StartedSignIn) {
  const path = { params: { path: { server } } };
  for (const end = Date.parse(expiresAt); Date.now() < end; await sleep(lookMs)) {
    const view = await client.get('/v1/servers/{server}', path);
    // It is listed before the page of the browser says so.
    if (view.authorization?.status === 'signed-in' && view.health?.status !== 'unauthorized') return view;
  }
  throw new CommandFailure(
    `Nobody signed in to ${server} in time.`,
    `It is stored. Start the sign-in again: moniker add server ${server} <url> --oauth --replace`,
  );
}

/** Best effort: the page is printed in any case. No shell reads the URL, which another service chose. */
function openBrowser(url: string): void {
  if (!/^https?:\/\//i.test(url)) return;
  const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(command ?? 'xdg-open', [...args, url], { stdio: 'ignore', detached: true });
  // Machines without a browser lack the program.
  child.once('error', () => undefined);
  child.unref();
}

const openers: Partial<Record<NodeJS.Platform, string[]>> = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] };
