/** The subjects of endpoints, by which the documents group them, with their descriptions. */
export const TAGS = {
  Identity: 'The calling key and its tenant.',
  Shops: "The tenant's shops.",
  Channel: "The connection of a shop's number to the chat network.",
  Messages: 'Outbound messages and their delivery state.',
  Batches: 'One text to many people, over hours and days.',
  Inbound: 'Messages that people write to the shops, if the account receives them.',
  Events: 'Events of the account, oldest first.',
  Statuses: "Statuses of a shop's number.",
  Groups: "Chat groups of a shop's number.",
  Contacts: 'Contacts that consented to be written to.',
  Documentation: 'Articles, as Markdown.',
  Tenants: 'Accounts, their shops and their customer records.',
  Keys: 'API keys of a tenant.',
  Webhooks: "The endpoints that receive a tenant's events.",
  Requests: 'The request log.',
  Fleet: 'The nodes, what they do, and their events.',
  Actors: 'The live actors of shops, and what they hold.',
  'Dead letters': 'Commands that made an actor throw.',
  Operators: 'The operators of the service, and their changes.',
} as const;

export type Tag = keyof typeof TAGS;
