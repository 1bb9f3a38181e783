/**
 * Who may call `/mcp` from a browser (MCP, Streamable HTTP, security: "Servers MUST validate the Origin header on all incoming connections to
 * prevent DNS rebinding attacks"). Programs send no origin and are asked for their key. On a loopback address the name that was called is
 * looked at as well: a stranger's name that leads here is no name of ours.
 */
import type { Settings } from '../core/settings.ts';

export type CalledFrom = { url: string; host: string | undefined; origin: string | undefined };

/** What is wrong with it; null: nothing. */
export function originFault(settings: Pick<Settings, 'publicUrl' | 'allowedOrigins'>, called: CalledFrom): string | null {
  if (isLocal(settings) && !isOwnHost(settings, called))
    return 'This service runs on a loopback address and is not called by that host name.';
  return mayRead(settings, called) ? null : 'Pages of that origin may not call this service. MONIKER_ALLOWED_ORIGINS lists those that may.';
}

/** Whether the page that calls, if one does, is one of ours or of the operator's. */
export function mayRead(settings: Pick<Settings, 'publicUrl' | 'allowedOrigins'>, { url, origin }: CalledFrom): boolean {
  if (origin === undefined || settings.allowedOrigins.includes(origin)) return true;
  const own = [url, settings.publicUrl].map((text) => (text !== null && URL.canParse(text) ? new URL(text).origin : null));
  return own.includes(origin) || (isLocal(settings) && URL.canParse(origin) && isLoopback(new URL(origin).hostname));
}

function isOwnHost({ publicUrl }: Pick<Settings, 'publicUrl'>, { url, host }: CalledFrom): boolean {
  const called = host === undefined ? url : `http://${host}`;
  if (!URL.canParse(called)) return false;
  const { hostname } = new URL(called);
  return isLoopback(hostname) || (publicUrl !== null && URL.canParse(publicUrl) && hostname === new URL(publicUrl).hostname);
}

/** `npm start` says so itself: it sets the public address, if nobody else has. */
function isLocal({ publicUrl }: Pick<Settings, 'publicUrl'>): boolean {
  return publicUrl !== null && URL.canParse(publicUrl) && isLoopback(new URL(publicUrl).hostname);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(hostname);
}

export function isMcpPath(path: string): boolean {
  return path === '/mcp' || path.startsWith('/mcp/');
}
