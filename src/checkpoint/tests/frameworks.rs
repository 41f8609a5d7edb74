use super::*;

#[test]
fn maxtext() {
    let base = "python3 -m MaxText.train MaxText/configs/base.yml run_name=r1 base_output_directory=gs://b/out";
    check(&[
        (
            exec(base),
            "MaxText; saves yes; gs://b/out/r1/checkpoints; 10000 steps (the default); resumes yes; durable yes \
             ObjectStore; -",
        ),
        (
            bash(
                "python3 src/maxtext/trainers/pre_train/train.py src/maxtext/configs/base.yml \
             base_output_directory=gs://b enable_checkpointing=false run_name=x",
            ),
            "MaxText; saves no; -; -; resumes no; durable ? Unknown; -",
        ),
        // Without a run name, each start makes one from the time.
        (
            exec(
                "python3 -m maxtext.trainers.pre_train.train base.yml base_output_directory=gs://b \
             checkpoint_period=20",
            ),
            "MaxText; saves yes; gs://b; 20 steps; resumes no; durable yes ObjectStore; -",
        ),
        (
            exec(
                "python3 -m maxtext.trainers.pre_train.train base.yml \
             base_output_directory=/o",
            )
            .env("JOBSET_NAME", "js")
            .claim("/o", "out"),
            "MaxText; saves yes; /o/js/checkpoints; 10000 steps (the default); resumes yes; durable yes Claim out; -",
        ),
        (
            bash(
                "export RUN=r-$(date +%s); python3 MaxText/train.py MaxText/configs/base.yml run_name=$RUN \
             base_output_directory=gs://b",
            ),
            "MaxText; saves yes; gs://b/r-$(date +%s)/checkpoints; 10000 steps (the default); resumes no; durable \
             yes ObjectStore; -",
        ),
        // Variables with its prefix are settings.
        (
            exec("python3 -m MaxText.train MaxText/configs/base.yml run_name=r")
                .env("M_BASE_OUTPUT_DIRECTORY", "gs://m")
                .env("M_CHECKPOINT_PERIOD", "7"),
            "MaxText; saves yes; gs://m/r/checkpoints; 7 steps; resumes yes; durable yes ObjectStore; -",
        ),
        (
            exec("python3 -m MaxText.train /cfg/my.yml").claim("/cfg", "cfg"),
            "MaxText; saves ?; -; -; resumes ?; durable ? Unknown; -",
        ),
        (
            exec(
                "python3 -m MaxText.train MaxText/configs/base.yml run_name=r base_output_directory=gs://b \
             enable_autocheckpoint=true",
            )
            .grace(120),
            "MaxText; saves yes; gs://b/r/checkpoints; 10000 steps (the default); resumes yes; durable yes \
             ObjectStore; SIGTERM 120 s",
        ),
        (
            exec(
                "python3 -m MaxText.train base.yml run_name=r base_output_directory=gs://b \
             enable_multi_tier_checkpointing=True local_checkpoint_directory=/local local_checkpoint_period=20",
            )
            .mount(
                "/local",
                "cache",
                VolumeSource::Csi { driver: "multitier-checkpoint.csi.storage.gke.io", bucket: None },
            ),
            "MaxText; saves yes; gs://b/r/checkpoints; 10000 steps (the default); resumes yes; durable yes \
             ObjectStore; -",
        ),
    ]);
}

#[test]
fn torchtitan() {
    check(&[
        (
            exec("torchrun --nproc_per_node=8 -m torchtitan.train --module llama3 --config llama3_8b"),
            "torchtitan; saves no; -; -; resumes no; durable ? Unknown; -",
        ),
        (
            exec("torchrun -m torchtitan.train --checkpoint.enable --dump_folder /data/run --checkpoint.interval 250")
                .claim("/data", "c"),
            "torchtitan; saves yes; /data/run/checkpoint; 250 steps; resumes yes; durable yes Claim c; -",
        ),
        (
            exec("torchrun torchtitan/train.py --job.config_file ./train_configs/llama3_8b.toml"),
            "torchtitan; saves ?; -; -; resumes ?; durable ? Unknown; -",
        ),
        (
            exec(
                "torchrun train.py --job.config_file a.toml --checkpoint.enable-checkpoint \
                 --job.dump_folder=s3://b/x",
            ),
            "torchtitan; saves yes; s3://b/x/checkpoint; -; resumes yes; durable yes ObjectStore; -",
        ),
        (
            exec("torchrun -m torchtitan.train --checkpoint.enable --checkpoint.load_only"),
            "torchtitan; saves no; -; -; resumes no; durable ? Unknown; -",
        ),
        (
            exec("torchrun -m torchtitan.train --checkpoint.enable").dir("/mnt/work").claim("/mnt", "c"),
            "torchtitan; saves yes; ./outputs/checkpoint; 500 steps (the default); resumes yes; durable yes Claim \
             c; -",
        ),
    ]);
}

#[test]
fn hugging_face() {
    check(&[
        (
            exec("torchrun sft.py --output_dir /out --per_device_train_batch_size 4").claim("/out", "out"),
            "Hugging Face Trainer; saves yes; /out; 500 steps (the default); resumes ?; durable yes Claim out; -",
        ),
        (
            exec("accelerate launch run_clm.py --output-dir=/out --save-steps=50 --resume-from-checkpoint=True")
                .claim("/out", "out"),
            "Hugging Face Trainer; saves yes; /out; 50 steps; resumes yes; durable yes Claim out; -",
        ),
        (
            exec("trl sft --output_dir /out --save_strategy epoch --resume_from_checkpoint /out/checkpoint-500"),
            "Hugging Face Trainer; saves yes; /out; 1 epoch; resumes yes; durable no ContainerDisk; -",
        ),
        (
            exec("python t.py --output_dir /out --num_train_epochs 3 --save_strategy no"),
            "Hugging Face Trainer; saves no; -; -; resumes no; durable ? Unknown; -",
        ),
        (
            exec("python t.py --output_dir /out --num_train_epochs 3 --save_strategy no --enable_jit_checkpoint")
                .grace(300)
                .claim("/out", "o"),
            "Hugging Face Trainer; saves yes; /out; -; resumes ?; durable yes Claim o; SIGTERM 300 s",
        ),
        (
            exec(
                "python t.py --output_dir /out --num_train_epochs 3 --save_only_model \
             --resume_from_checkpoint=true",
            ),
            "Hugging Face Trainer; saves yes; /out; 500 steps (the default); resumes no; durable no ContainerDisk; -",
        ),
        (
            exec("trl dpo --config /cfg/dpo.yaml"),
            "Hugging Face Trainer; saves ?; -; -; resumes ?; durable ? Unknown; -",
        ),
        (
            exec("deepspeed train.py --deepspeed ds.json --output_dir hf://me/model --num_train_epochs 1"),
            "Hugging Face Trainer; saves yes; hf://me/model; 500 steps (the default); resumes ?; durable yes \
             ObjectStore; -",
        ),
    ]);
}

#[test]
fn megatron() {
    let gpt = "torchrun pretrain_gpt.py --tensor-model-parallel-size 8";
    let with = |more: &str| -> &'static str { format!("{gpt} {more}").leak() };
    check(&[
        (exec(gpt), "Megatron-LM; saves no; -; -; resumes no; durable ? Unknown; -"),
        (
            exec(with("--save /ckpt --load /ckpt/ --save-interval 1000")).claim("/ckpt", "c"),
            "Megatron-LM; saves yes; /ckpt; 1000 iterations; resumes yes; durable yes Claim c; -",
        ),
        (
            exec(with("--save /ckpt --save-interval 1000")).claim("/ckpt", "c"),
            "Megatron-LM; saves yes; /ckpt; 1000 iterations; resumes no; durable yes Claim c; -",
        ),
        (
            exec(with("--save /ckpt --load /base --finetune")).claim("/ckpt", "c"),
            "Megatron-LM; saves yes; /ckpt; -; resumes no; durable yes Claim c; -",
        ),
        // Each start would load what another run saved.
        (
            exec(with("--save /ckpt --load /base")).claim("/ckpt", "c"),
            "Megatron-LM; saves yes; /ckpt; -; resumes no; durable yes Claim c; -",
        ),
        (
            exec(with("--save /ckpt --load $(FROM) --exit-signal-handler")).env_from("FROM").claim("/ckpt", "c"),
            "Megatron-LM; saves yes; /ckpt; -; resumes ?; durable yes Claim c; SIGTERM 30 s",
        ),
        (
            bash("torchrun pretrain_gpt.py ${MODEL_ARGS[@]} --bf16"),
            "Megatron-LM; saves ?; -; -; resumes ?; durable ? Unknown; -",
        ),
        (
            exec(with("--pretrained-checkpoint /base --recompute-granularity full")),
            "Megatron-LM; saves no; -; -; resumes no; durable ? Unknown; -",
        ),
        (
            exec("python -m megatron.bridge.train checkpoint.save=/c checkpoint.load=/c checkpoint.save_interval=50")
                .claim("/c", "c"),
            "Megatron Bridge; saves yes; /c; 50 iterations; resumes yes; durable yes Claim c; -",
        ),
        (
            exec(
                "torchrun pretrain.py checkpoint.pretrained_checkpoint=/m checkpoint.save=/c \
                 train.exit_signal_handler=true",
            ),
            "Megatron Bridge; saves yes; /c; -; resumes ?; durable no ContainerDisk; SIGTERM 30 s",
        ),
    ]);
}

#[test]
fn nemo_and_torchtune() {
    check(&[
        (
            exec(
                "python megatron_gpt_pretraining.py exp_manager.exp_dir=/r exp_manager.name=gpt \
             exp_manager.resume_if_exists=True ++exp_manager.checkpoint_callback_params.every_n_train_steps=100",
            )
            .claim("/r", "r")
            .grace(90),
            "NeMo; saves yes; /r/gpt; 100 steps; resumes yes; durable yes Claim r; SIGTERM 90 s",
        ),
        (
            exec("python a.py exp_manager.explicit_log_dir=/r exp_manager.create_preemption_callback=false"),
            "NeMo; saves yes; /r/checkpoints; -; resumes ?; durable no ContainerDisk; -",
        ),
        (
            exec("python a.py exp_manager.exp_dir=/r exp_manager.create_checkpoint_callback=False"),
            "NeMo; saves no; -; -; resumes no; durable ? Unknown; -",
        ),
        (
            exec(
                "tune run --nproc_per_node 4 full_finetune_distributed --config llama3_1/8B_full \
             output_dir=/workspace/output checkpointer.checkpoint_dir=/workspace/model",
            )
            .claim("/workspace", "w"),
            "torchtune; saves yes; /workspace/output; 1 epoch (the default); resumes no; durable yes Claim w; -",
        ),
        (
            exec(
                "tune run lora_finetune_single_device --config /cfg/mine.yaml resume_from_checkpoint=True \
             output_dir=/o save_every_n_steps=9",
            ),
            "torchtune; saves yes; /o; 9 steps; resumes yes; durable no ContainerDisk; -",
        ),
        // The model read is no place for checkpoints.
        (
            exec(
                "tune run full_finetune_distributed --config llama3_1/8B_full \
             checkpointer.checkpoint_dir=/model",
            )
            .claim("/model", "m"),
            "torchtune; saves yes; /tmp/torchtune; 1 epoch (the default); resumes no; durable no ContainerDisk; -",
        ),
    ]);
}

/// torchprime has no checkpoint keys of its own (`torchprime/torch_xla_models/configs/default.yaml`); those that its forks
/// add have names that many scripts share.
#[test]
fn what_is_no_framework_of_the_table_is_told_by_its_names() {
    check(&[
        (
            exec(
                "python torchprime/torch_xla_models/train.py checkpoint_dir=gs://b/c save_steps=100 \
             resume_from_checkpoint=200",
            ),
            "-; saves yes; gs://b/c; 100 steps; resumes yes; durable yes ObjectStore; -",
        ),
        (
            exec("python torchprime/torch_xla_models/train.py model=llama-3-8b"),
            "-; saves ?; -; -; resumes ?; durable ? Unknown; -",
        ),
    ]);
}

#[test]
fn lightning_deepspeed_and_ray() {
    check(&[
        (
            exec("python main.py fit --trainer.default_root_dir=/logs --ckpt_path=last").claim("/logs", "l"),
            "Lightning; saves yes; /logs; 1 epoch (the default); resumes yes; durable yes Claim l; -",
        ),
        (
            exec("python main.py fit --trainer.max_epochs 3 --trainer.enable_checkpointing=false"),
            "Lightning; saves no; -; -; resumes no; durable ? Unknown; -",
        ),
        (exec("python main.py fit --config cfg.yaml"), "Lightning; saves ?; -; -; resumes ?; durable ? Unknown; -"),
        (
            exec("python train.py --default_root_dir /logs --auto_resume").claim("/logs", "l"),
            "Lightning; saves yes; /logs; -; resumes yes; durable yes Claim l; -",
        ),
        (
            exec("deepspeed --num_gpus 8 train.py --deepspeed_config ds.json --save_dir /out --save_interval 100"),
            "DeepSpeed; saves yes; /out; 100 steps; resumes ?; durable no ContainerDisk; -",
        ),
        (
            exec("deepspeed train.py --ckpt-dir /out --resume").claim("/out", "o"),
            "DeepSpeed; saves yes; /out; -; resumes yes; durable yes Claim o; -",
        ),
        (exec("deepspeed train.py"), "DeepSpeed; saves ?; -; -; resumes ?; durable ? Unknown; -"),
        (
            exec("ray job submit -- python train.py --storage-path s3://b/ray"),
            "Ray Train; saves yes; s3://b/ray; -; resumes ?; durable yes ObjectStore; -",
        ),
    ]);
}

#[test]
fn kubeflow_sdk() {
    let script = "read -r -d '' SCRIPT << EOM\nfrom x import y\ncheckpoint_config = {   'enable_jit': True,\n    \
     'output_dir': '/mnt/kubeflow-checkpoints/run',\n    'save_strategy': 'steps',\n    'save_steps': 40}\n_, _, \
     a, b = _create_checkpoint_instrumentation(checkpoint_config)\nEOM\ntorchrun x.py";
    let cloud = "checkpoint_config = {   'enable_jit': False,\n    'output_dir': '/mnt/kubeflow-checkpoints',\n   \
      'cloud_remote_storage_uri': 's3://b/run',\n    'save_strategy': \
      'epoch'}\n_create_checkpoint_instrumentation(checkpoint_config)";
    let off = "checkpoint_config = {'enable_jit': False,\n 'save_strategy': \
     'no'}\n_create_checkpoint_instrumentation(checkpoint_config)";
    let name = "Kubeflow TransformersTrainer";
    check(&[
        (
            bash(script)
                .mount("/mnt/kubeflow-checkpoints", "checkpoint-storage", VolumeSource::PersistentVolumeClaim("p"))
                .grace(60),
            &format!(
                "{name}; saves yes; /mnt/kubeflow-checkpoints/run; 40 steps; resumes yes; durable yes Claim p; \
                 SIGTERM 60 s"
            ),
        ),
        (
            bash(cloud).mount(
                "/mnt/kubeflow-checkpoints",
                "checkpoint-storage",
                VolumeSource::EmptyDir { memory: false },
            ),
            &format!("{name}; saves yes; s3://b/run; 1 epoch; resumes yes; durable yes ObjectStore; -"),
        ),
        (bash(off), &format!("{name}; saves no; -; -; resumes no; durable ? Unknown; -")),
    ]);
}

/// `MaxText` takes variables as settings; a `ConfigMap` may hold any of them. What is given by arguments holds all the same.
#[test]
fn settings_may_stand_in_variables_that_are_not_told() {
    let line = "python -m maxtext.trainers.pre_train.train";
    let given = exec("python -m maxtext.trainers.pre_train.train base_output_directory=gs://b run_name=r");
    let megatron = exec("torchrun pretrain_gpt.py --train-iters 9").all_env_from();
    assert_eq!(exec(line).all_env_from().detect().saves.answer, Answer::Unknown);
    assert_eq!(given.clone().all_env_from().detect().saves.answer, given.detect().saves.answer);
    assert_eq!(megatron.detect().saves.answer, Answer::No, "it takes arguments alone");
}
