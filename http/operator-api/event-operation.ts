const shared = (name: string) => ({ $ref: `#/components/responses/${name}` });

/** GET /events as the operators' document describes it: no declared endpoint, since its reply stays open. */
export const EVENT_OPERATION = {
  operationId: 'followEvents',
  tags: ['Fleet'],
  summary: 'What happens on all nodes, as server-sent events',
  description:
    'Each has an `id` and the name of its `type`; its `data` is the JSON of this schema. Who comes back with `Last-Event-ID` is told what it missed, the last 1,000 events at most, and then `missed`.\n\nRole: `read`.',
  'x-role': 'read',
  parameters: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      description: 'The `id` of the last event seen, at this node or another.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'The events; the reply stays open.',
      headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
      content: { 'text/event-stream': { schema: { $ref: '#/components/schemas/OperatorEvent' } } },
    },
    401: shared('Unauthorized'),
    403: shared('Forbidden'),
    429: shared('TooManyRequests'),
    500: shared('InternalServerError'),
  },
} as const;
