/** The start of the paths of all operators' endpoints, with the version. */
export const OPERATOR_BASE_PATH = '/admin/v1';
