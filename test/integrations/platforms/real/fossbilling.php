<?php
// Runs one action of FOSSBilling's own module of hosting services and orders, with the manager for Berth in its library.
// Ours in place of packages: the container, the record of a database, the finder of files.

namespace Pimple {
    class Container implements \ArrayAccess
    {
        private array $values = [];
        private array $made = [];
        private array $protected = [];
        public function offsetExists(mixed $id): bool
        {
            return array_key_exists($id, $this->values);
        }
        public function offsetGet(mixed $id): mixed
        {
            $value = $this->values[$id] ?? null;
            return $value instanceof \Closure && !in_array($value, $this->protected, true) ? $this->made[$id] ??= $value($this) : $value;
        }
        public function offsetSet(mixed $id, mixed $value): void
        {
            $this->values[$id] = $value;
        }
        public function offsetUnset(mixed $id): void
        {
            unset($this->values[$id]);
        }
        public function protect(\Closure $value): \Closure
        {
            return $this->protected[] = $value;
        }
    }
}

namespace RedBeanPHP {
    class SimpleModel
    {
        public function __construct(private array $columns = [])
        {
        }
        public function &__get($name)
        {
            $this->columns[$name] ??= null;
            return $this->columns[$name];
        }
        public function __set($name, $value)
        {
            $this->columns[$name] = $value;
        }
        public function __isset($name)
        {
            return isset($this->columns[$name]);
        }
        public function columns(): array
        {
            return $this->columns;
        }
    }
}

namespace Symfony\Component\Filesystem {
    class Filesystem
    {
        public function exists(string $path): bool
        {
            return file_exists($path);
        }
    }
    class Path
    {
        public static function join(string ...$parts): string
        {
            return implode('/', $parts);
        }
    }
}

namespace Symfony\Component\Finder {
    class Finder implements \IteratorAggregate
    {
        private string $folder = '';
        private string $pattern = '*';
        public function files(): static
        {
            return $this;
        }
        public function in(string $folder): static
        {
            $this->folder = $folder;
            return $this;
        }
        public function name(string $pattern): static
        {
            $this->pattern = $pattern;
            return $this;
        }
        /** Without it a finder goes into folders. */
        public function depth(mixed $depth): static
        {
            return $this;
        }
        public function sortByName(): static
        {
            return $this;
        }
        public function getIterator(): \Iterator
        {
            $files = [];
            $inside = new \RecursiveDirectoryIterator($this->folder, \FilesystemIterator::SKIP_DOTS);
            foreach (new \RecursiveIteratorIterator($inside) as $file) {
                if (fnmatch($this->pattern, $file->getFilename())) {
                    $files[] = new class ($file->getPathname()) extends \SplFileInfo {
                        public function getFilenameWithoutExtension(): string
                        {
                            return pathinfo($this->getFilename(), PATHINFO_FILENAME);
                        }
                    };
                }
            }
            return new \ArrayIterator($files);
        }
    }
}

namespace {
    require __DIR__ . '/load.php';

    $source = getenv('BERTH_FOSSBILLING') . '/src';
    // A copy of the library's managers with ours among them, made by the test.
    define('PATH_LIBRARY', getenv('LIBRARY'));
    define('SYSTEM_URL', getenv('SYSTEM_URL') ?: 'https://billing.example/');
    const DEBUG = false;
    define('PATH_CONFIG', getenv('LIBRARY') . '/config.php');
    load_platform(['FOSSBilling\\' => "$source/library/FOSSBilling", 'Box\\Mod\\' => "$source/modules"]);
    load_platform(['Box_' => "$source/library/Box", 'Model_' => "$source/library/Model"], '_');
    load_platform(['Server_' => "$source/library/Server"], '_');
    function __trans(string $text, ?array $values = null): string
    {
        return strtr($text, $values ?? []);
    }

    /** As RedBean and the wrapper of FOSSBilling: each load is an object of its own, a store writes all columns. */
    final class Database
    {
        public function __construct(public array $tables)
        {
        }
        private function model(string $name, array $columns): object
        {
            $class = "Model_$name";
            return new $class($columns);
        }
        public function dispense(string $name): object
        {
            return $this->model($name, []);
        }
        public function load(string $name, mixed $id): ?object
        {
            $columns = $this->tables[$name][(int) $id] ?? null;
            return $columns === null ? null : $this->model($name, $columns);
        }
        public function getExistingModelById(string $name, mixed $id, string $message = ''): object
        {
            return $this->load($name, $id) ?? throw new FOSSBilling\Exception($message);
        }
        public function findOne(string $name, string $where, array $values): ?object
        {
            preg_match_all('/(\w+)\s*=\s*:(\w+)/', $where, $pairs, PREG_SET_ORDER);
            foreach ($this->tables[$name] ?? [] as $columns) {
                $fits = true;
                foreach ($pairs as [, $column, $value]) {
                    $fits = $fits && (string) ($columns[$column] ?? '') === (string) ($values[$value] ?? $values[":$value"]);
                }
                if ($fits) {
                    return $this->model($name, $columns);
                }
            }
            return null;
        }
        public function store(object $model): int
        {
            $name = substr($model::class, strlen('Model_'));
            $model->id = (int) ($model->id ?? 0) ?: count($this->tables[$name] ?? []) + 1;
            $this->tables[$name][$model->id] = $model->columns();
            return $model->id;
        }
        public function trash(object $model): void
        {
            unset($this->tables[substr($model::class, strlen('Model_'))][$model->id]);
        }
        public function exec(string $sql, array $values): int
        {
            hold(str_starts_with($sql, 'INSERT IGNORE INTO setting (param, value, '), 'a setting is stored once');
            $this->tables['Setting'][$values[0]] ??= $values[1];
            return 1;
        }
        public function getParamValue(string $param, mixed $default = null): mixed
        {
            return $this->tables['Setting'][$param] ?? $default;
        }
    }
    /** Takes whatever is called. */
    final class Nothing
    {
        public function __call(string $name, array $given): mixed
        {
            return null;
        }
    }
    final class Tools
    {
        public function generatePassword(int $length, mixed $strength): string
        {
            return substr('Made-up-password-1234567890', 0, $length);
        }
        public function to_camel_case(string $text, bool $first = false): string
        {
            return ucfirst($text);
        }
        public function from_camel_case(string $text): string
        {
            return strtolower($text);
        }
    }

    ['action' => $action, 'db' => $tables, 'order' => $orderId] = $given = json_decode(stream_get_contents(STDIN), true);
    $db = new Database($tables);
    $di = new Pimple\Container();
    $GLOBALS['di'] = $di;
    $hosting = new Box\Mod\Servicehosting\Service();
    $orders = new Box\Mod\Order\Service();
    $di['db'] = $db;
    $di['tools'] = new Tools();
    $di['events_manager'] = new Nothing();
    $di['period'] = $di->protect(fn () => new Nothing());
    $di['mod_service'] = $di->protect(fn (string $name) => match (strtolower($name)) {
        'order' => $orders,
        'servicehosting' => $hosting,
        'system' => $db,
        default => new Nothing(),
    });
    $di['mod'] = $di->protect(fn (string $name) => new class ($di['mod_service']($name)) {
        public function __construct(private object $service)
        {
        }
        public function getService(): object
        {
            return $this->service;
        }
    });
    $di['logger'] = function () use ($di) {
        $log = new Box_Log();
        $log->setDi($di);
        $log->addWriter(new Box_LogDb(new Nothing()));
        return $log;
    };
    $di['server_manager'] = $di->protect(function (string $name, array $config) use ($di) {
        $class = "Server_Manager_$name";
        if (!class_exists($class)) {
            require_once PATH_LIBRARY . "/Server/Manager/$name.php";
        }
        return (new $class($config))->setLog($di['logger']);
    });
    $hosting->setDi($di);
    $orders->setDi($di);
    require_once PATH_LIBRARY . '/Server/Manager/Berth.php';
    hurry();

    $order = $db->load('ClientOrder', $orderId);
    $service = fn () => $orders->getOrderService($db->load('ClientOrder', $orderId));
    $answer = $error = null;
    try {
        $answer = match ($action) {
            'managers' => $hosting->getServerManagers(),
            'secrets' => $hosting->getServerManagerSecretFields('Berth'),
            'test' => $hosting->testConnection($db->load('ServiceHostingServer', 1)),
            'page' => $hosting->getManagerUrls($db->load('ServiceHostingServer', 1)),
            'create' => $orders->createFromOrder($order),
            // A queue of orders in one run, as the cron job has it.
            'createAll' => array_map(fn ($id) => $orders->createFromOrder($db->load('ClientOrder', $id)), $given['orders']),
            'suspend' => $orders->suspendFromOrder($order, 'Unpaid'),
            'unsuspend' => $orders->unsuspendFromOrder($order),
            'terminate' => $hosting->action_cancel($order),
            'uncancel' => $hosting->action_uncancel($order),
            'upgrade' => $hosting->changeAccountPlan($order, $service(), $db->load('ServiceHostingHp', $given['plan'])),
            'sync' => $hosting->sync($order, $service()),
            'link' => $hosting->generateLoginUrl($service()),
        };
    } catch (Exception $refused) {
        $error = $refused->getMessage();
    }
    unset($refused);
    echo json_encode(['error' => $error, 'answer' => $answer, 'db' => $db->tables]);
}
