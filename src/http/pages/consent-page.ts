/**
 * The page on which a user accepts an MCP client: who asks, where the browser returns to, and what the client will be allowed to do. Works
 * without scripts. Name and address of the client are chosen by the client.
 */
import { grantScopeTexts } from '../../core/people/grant.ts';
import { redirectKind, usualProgramOf } from '../../core/people/redirect-uri.ts';
import type { ServedNames } from '../../engine/mcp/served-names.ts';
import type { AuthorizationRequest } from '../../mcp/authorization/checked-request.ts';
import { escapeHtml, escapeInvisible, htmlPage } from './html.ts';

export type ConsentPage = {
  request: AuthorizationRequest;
  /** Names, which may be many; null: at `/mcp`, they depend on what is equipped later. */
  offered: ServedNames | null;
  workspace: string;
  /** Email or name of the user. */
  user: string;
  /** Signed; the form returns it. */
  consent: string;
};

const maxShownNames = 100;

export function consentPage({ request, offered, workspace, user, consent }: ConsentPage): string {
  const { client, domain, redirectUri, scopes, endpoint } = request;
  const { receiver, warning } = receiverHtml(redirectUri);
  const name = client.clientName?.trim() || 'A client without a name';
  return htmlPage(
    'Allow access? · Moniker',
    `<main class="approval">
<h1>Allow ${escapeInvisible(name)} to use your tools?</h1>
<p>${domain === null ? 'The client chose its name itself; it is not verified.' : `The client is published by <strong>${escapeInvisible(domain)}</strong>.`}</p>
<dl>
<dt>Access is sent to</dt><dd>${receiver}</dd>
<dt>Toolset</dt><dd><code>${escapeInvisible(endpoint.toolset ?? 'the one that you equip')}</code></dd>
<dt>Workspace</dt><dd><code>${escapeInvisible(workspace)}</code></dd>
<dt>You are</dt><dd>${escapeInvisible(user)}</dd>
</dl>
${warning === '' ? '' : `<p class="warning">${warning} Continue only if you have just started to connect a client.</p>\n`}<h2>The client will be allowed to</h2>
<ul>
${scopes.map((scope) => `<li>${escapeHtml(grantScopeTexts[scope])}</li>`).join('\n')}
</ul>
${offered === null ? '' : offeredHtml(offered)}<form method="post" class="decide">
<input type="hidden" name="consent" value="${escapeHtml(consent)}">
<button name="decision" value="allow" class="approve">Allow</button>
<button name="decision" value="deny" class="deny">Deny</button>
</form>
<p class="muted">Access lasts while the client uses it, at most 30 days after its last use. You can end it at any time.</p>
</main>`,
  );
}

/** Who gets the access, and what the user should know about it. */
function receiverHtml(redirectUri: string): { receiver: string; warning: string } {
  const url = new URL(redirectUri);
  const host = escapeInvisible(url.host);
  switch (redirectKind(url)) {
    case 'private-use': {
      const links = `<code>${escapeInvisible(url.protocol)}</code> links`;
      const usual = usualProgramOf(url.protocol.slice(0, -1));
      return {
        receiver: `<strong>the program that opens ${links} on your device</strong>${usual === null ? '' : `, usually ${escapeInvisible(usual)}`} (<code>${escapeInvisible(redirectUri)}</code>)`,
        warning: `Any program on your device can open ${links}, and then gets this access.`,
      };
    }
    case 'loopback':
      return {
        receiver: `<strong>an application on this computer</strong> (${host})`,
        warning: 'Any application on this computer may be waiting for this access.',
      };
    default:
      return { receiver: `<strong>${host}</strong>`, warning: '' };
  }
}

/** Most toolsets have tools only. */
function offeredHtml({ tools, resources, prompts }: ServedNames): string {
  const others = Object.entries({ Resources: resources, Prompts: prompts }).filter(([, names]) => names.length > 0);
  return [['Tools', tools] as const, ...others].map(([title, names]) => namesHtml(title, names)).join('');
}

function namesHtml(title: string, names: readonly string[]): string {
  const more = names.length - maxShownNames;
  const lines = names.slice(0, maxShownNames).map((name) => `<li><code>${escapeInvisible(name)}</code></li>`);
  return `<details open><summary>${title}: ${names.length}</summary>
<ul>
${lines.join('\n')}${more > 0 ? `\n<li>and ${more} more</li>` : ''}
</ul>
</details>
`;
}

/** `continueTo`: where the client receives the error; the user decides whether to go there. */
export function refusedRequestPage(detail: string, continueTo: string | null): string {
  const link =
    continueTo === null
      ? ''
      : `\n<p><a href="${escapeHtml(continueTo)}" rel="noreferrer">Return to ${escapeInvisible(placeOf(new URL(continueTo)))}</a></p>`;
  return htmlPage(
    'Not connected · Moniker',
    `<main class="approval">\n<h1>The client cannot be connected</h1>\n<p>${escapeInvisible(detail)}</p>${link}\n</main>`,
  );
}

function placeOf(url: URL): string {
  return redirectKind(url) === 'private-use' ? `the program that opens ${url.protocol} links` : url.host;
}
