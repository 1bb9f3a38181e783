import { shareService } from './shared-service.ts';
import { agUiSurface, elicitationSurface, inputRequiredSurface, ownSurface, uiSurface } from './approval-surfaces.ts';
import { describeApprovals } from './approval-table.ts';

const service = shareService();

describeApprovals(service, [
  ['the AI SDK’s chat', uiSurface(service)],
  ['AG-UI', agUiSurface(service)],
  ['the API of sessions', ownSurface(service, { by: 'api' })],
  ['the page of a link', ownSurface(service, { by: 'link' })],
  ['Chat Completions, by the sentence', ownSurface(service, { by: 'api', chat: true })],
  ['an MCP client of 2025, by elicitation', elicitationSurface(service)],
  ['an MCP client of 2026-07-28, by input_required', inputRequiredSurface(service)],
]);
