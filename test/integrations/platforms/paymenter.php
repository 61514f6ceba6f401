<?php
// A stand-in for Paymenter as its documentation describes server extensions: the base class, a service with its user and
// properties. Calls one method and holds its answer to the documentation.

namespace App\Classes\Extension {
    class Server
    {
        public function __construct(private array $config = [])
        {
        }
        public function config(string $name): mixed
        {
            return $this->config[$name] ?? null;
        }
    }
}

namespace App\Models {
    final class Properties
    {
        private ?string $key = null;
        public function __construct(private Service $service)
        {
        }
        public function updateOrCreate(array $which, array $values): void
        {
            \hold(array_keys($which) === ['key'] && array_keys($values) === ['name', 'value'], 'a property has key, name and value');
            $this->service->kept[$which['key']] = $values['value'];
        }
        public function where(string $column, string $value): self
        {
            \hold($column === 'key', 'a property is found by its key');
            $this->key = $value;
            return $this;
        }
        public function delete(): void
        {
            unset($this->service->kept[$this->key]);
        }
    }
    final class Service
    {
        public object $user;
        public function __construct(public int $id, public array $kept)
        {
            $this->user = (object) ['id' => 4711, 'name' => 'Cal Customer', 'email' => 'cal@example.com'];
        }
        public function properties(): Properties
        {
            return new Properties($this);
        }
    }
}

namespace {
    require __DIR__ . '/hold.php';
    require getenv('MODULE') . '/Berth/Berth.php';
    hurry();

    ['action' => $action, 'config' => $config, 'settings' => $settings, 'properties' => $properties] = json_decode(stream_get_contents(STDIN), true);
    $extension = new \Paymenter\Extensions\Servers\Berth\Berth($config);
    $service = new \App\Models\Service(17, $properties);
    $isField = fn (array $field) => isset($field['name'], $field['type'], $field['label'])
        && in_array($field['type'], ['text', 'password', 'number', 'select', 'checkbox', 'tags'], true)
        && ($field['type'] !== 'select' || is_array($field['options']));
    foreach ($extension->getConfig() as $field) {
        hold($isField($field), 'a setting has a name, a label and a known type');
    }
    try {
        $answer = match ($action) {
            'test' => $extension->testConfig(),
            'options' => $extension->getProductConfig(),
            'create' => $extension->createServer($service, $settings, $properties),
            'suspend' => $extension->suspendServer($service, $settings, $properties),
            'unsuspend' => $extension->unsuspendServer($service, $settings, $properties),
            'upgrade' => $extension->upgradeServer($service, $settings, $properties),
            'terminate' => $extension->terminateServer($service, $settings, $properties),
            'link' => $extension->{$extension->getActions($service, $settings, $properties)[0]['function']}($service, $settings, $properties),
        };
        if ($action === 'options') {
            foreach ($answer as $field) {
                hold($isField($field), 'an option of a product is a field');
            }
        }
        hold($action !== 'test' || $answer === true || is_string($answer), 'the test of the settings answers true or words');
        hold(!in_array($action, ['suspend', 'unsuspend', 'upgrade', 'terminate'], true) || $answer === true, 'what succeeds answers true');
        echo json_encode(['error' => null, 'answer' => $answer, 'properties' => (object) $service->kept]);
    } catch (\Exception $error) {
        echo json_encode(['error' => $error->getMessage(), 'answer' => null, 'properties' => (object) $service->kept]);
    }
}
