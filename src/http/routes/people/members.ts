/** `/v1/members`: the people who may use the workspace, each with a role. */
import * as z from 'zod';
import { ResourceName } from '../../../core/turn/agent.ts';
import { Member } from '../../../core/people/member.ts';
import { documentRoutes } from '../../document-routes.ts';

const MemberView = z
  .object({ ...Member.shape, name: ResourceName, email: z.string(), user: z.string() })
  .meta({ id: 'MemberView', example: { name: 'ada', email: 'ada@example.com', role: 'editor', user: '3f1c…' } });

export const memberRoutes = documentRoutes({
  kind: 'member',
  noun: 'member',
  tag: 'Members',
  scopes: ['admin'],
  name: ResourceName,
  body: Member,
  view: MemberView,
  shown: ['user'],
});
