/** `/v1/agents`: a model, instructions and a toolset under one name. Chat clients use them as the model `agent/<name>`. */
import { z } from 'zod';
import { Agent, ResourceName } from '../../core/agent.ts';
import { mayUseAgent, mayUseToolset, requireAgent, requireToolset } from '../access.ts';
import { mountDocumentRoutes } from '../document-routes.ts';
import { requireSameName } from '../documents.ts';
import type { App } from '../route.ts';

const AgentView = z.object({ ...Agent.shape, name: ResourceName }).meta({ id: 'AgentView' });

export function mountAgents(app: App): void {
  mountDocumentRoutes(app, {
    kind: 'agent',
    noun: 'agent',
    tag: 'Agents',
    scopes: ['toolsets'],
    name: ResourceName,
    body: Agent,
    view: AgentView,
    toView: ({ name, body }) => ({ ...body, name }),
    toDocument: (name, body) => {
      requireSameName(name, body);
      return { ...body, name };
    },
    authorize: (principal, name, body) => {
      requireAgent(principal, name);
      if (body?.toolset !== undefined) requireToolset(principal, body.toolset);
    },
    isVisible: (principal, { name, body }) =>
      mayUseAgent(principal, name) && (typeof body.toolset !== 'string' || mayUseToolset(principal, body.toolset)),
  });
}
