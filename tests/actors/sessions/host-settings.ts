/** Settings of the sending component that tests of other subjects do not vary. */
export const HOST_SETTINGS = {
  deviceName: 'Test',
  media: { allowLoopback: true, deniedRanges: [], nameServers: [] },
  workers: 1,
} as const;
