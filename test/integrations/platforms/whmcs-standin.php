<?php
// A stand-in for WHMCS as its public documentation describes it: the functions and classes that a provisioning module
// may use, over a JSON file. It is none of WHMCS's code.

namespace WHMCS\Database {
    /** Rows of a table, with the few methods of the query builder that the module uses. */
    final class Query
    {
        private array $conditions = [];

        public function __construct(private string $table)
        {
        }
        public function where(string $column, mixed $value): self
        {
            $this->conditions[$column] = $value;
            return $this;
        }
        public function get(): array
        {
            return array_map(fn ($row) => (object) $row, array_values(array_filter(\standin()[$this->table], $this->fits(...))));
        }
        public function first(): ?object
        {
            return $this->get()[0] ?? null;
        }
        public function update(array $values): int
        {
            $known = array_flip([
                'id', 'server', 'status', 'dedicatedip', 'disklimit', 'diskusage', 'bwlimit', 'bwusage', 'lastupdate', 'suspendreason',
            ]);
            if (array_diff_key($values, $known) !== []) {
                throw new \Exception('tblhosting has no column ' . implode(', ', array_keys(array_diff_key($values, $known))));
            }
            $state = \standin();
            $changed = 0;
            foreach ($state[$this->table] as &$row) {
                if ($this->fits($row)) {
                    $row = $values + $row;
                    $changed++;
                }
            }
            \standin($state);
            return $changed;
        }
        private function fits(array $row): bool
        {
            foreach ($this->conditions as $column => $value) {
                if ($row[$column] != $value) {
                    return false;
                }
            }
            return true;
        }
    }
    final class Capsule
    {
        public static function table(string $name): Query
        {
            if (!in_array($name, ['tblhosting', 'tblservers'], true)) {
                throw new \Exception("the stand-in has no table $name");
            }
            return new Query($name);
        }
    }
}

namespace {
    define('WHMCS', true);

    /** The state of the installation; with an argument it is written. */
    function standin(?array $state = null): array
    {
        $file = getenv('STANDIN_STATE');
        if ($state !== null) {
            file_put_contents($file, json_encode($state));
        }
        return json_decode(file_get_contents($file), true);
    }

    function logModuleCall(string $module, string $action, mixed $request, mixed $response, mixed $data = '', array $mask = []): void
    {
        $line = str_replace($mask, '***', json_encode([$module, $action, $request, $response]));
        file_put_contents(getenv('STANDIN_STATE') . '.log', "$line\n", FILE_APPEND);
    }

    function logActivity(string $text): void
    {
        file_put_contents(getenv('STANDIN_STATE') . '.log', "$text\n", FILE_APPEND);
    }

    function decrypt(string $text): string
    {
        return base64_decode($text);
    }

    function localAPI(string $command, array $values): array
    {
        $states = ['Pending', 'Active', 'Suspended', 'Terminated', 'Cancelled', 'Fraud'];
        if ($command !== 'UpdateClientProduct' || (isset($values['status']) && !in_array($values['status'], $states, true))) {
            return ['result' => 'error', 'message' => 'the stand-in does not know this'];
        }
        $id = $values['serviceid'];
        unset($values['serviceid']);
        $changed = \WHMCS\Database\Capsule::table('tblhosting')->where('id', $id)->update($values);
        return $changed === 1 ? ['result' => 'success'] : ['result' => 'error', 'message' => 'Service ID Not Found'];
    }

    /** `$params['model']` of a service. */
    final class ServiceProperties
    {
        public function get(string $name): string
        {
            return (string) (standin()['properties'][$name] ?? '');
        }
        public function save(array $values): bool
        {
            foreach ($values as $value) {
                if (!is_string($value)) {
                    throw new Exception('a service property is a text');
                }
            }
            $state = standin();
            $state['properties'] = $values + $state['properties'];
            standin($state);
            return true;
        }
    }
    final class ServiceModel
    {
        public ServiceProperties $serviceProperties;
        public function __construct()
        {
            $this->serviceProperties = new ServiceProperties();
        }
    }
}
